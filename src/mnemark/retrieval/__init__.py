"""Routes, fusion, ranking, disclosure. Scoring functions are pure."""
