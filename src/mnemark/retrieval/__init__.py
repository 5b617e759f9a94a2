"""Search passages and facts: routes, fusion, ranking, and rendering of hits. Scoring functions are pure."""
