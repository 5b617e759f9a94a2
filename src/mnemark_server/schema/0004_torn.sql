-- A log that came from a folder may end in a line that a crash cut off: the next append closes it, as in a folder,
-- so that what it adds is a line of its own. The header is written again, as the torn line may have been it.
CREATE OR REPLACE FUNCTION mnemark.append(
  log text, header bytea, body bytea, ids text[],
  OUT new_seq bigint, OUT starts bigint, OUT known text[]
) LANGUAGE plpgsql AS $$
DECLARE
  last record;
  first bytea := '';
BEGIN
  SELECT seq INTO new_seq FROM mnemark.heads WHERE tenant = mnemark.me() FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such tenant' USING ERRCODE = 'no_data_found';
  END IF;
  SELECT array_agg(id) INTO known FROM mnemark.lines WHERE tenant = mnemark.me() AND id = ANY (ids);
  IF known IS NOT NULL THEN
    RETURN;
  END IF;
  SELECT at + octet_length(data) AS size, kind,
      CASE WHEN octet_length(data) > 0 THEN get_byte(data, octet_length(data) - 1) END AS final
    INTO last FROM mnemark.parts
    WHERE tenant = mnemark.me() AND path = log ORDER BY at DESC, seq DESC LIMIT 1;
  starts := coalesce(last.size, 0);
  IF last.kind = 'x' THEN
    DELETE FROM mnemark.parts WHERE tenant = mnemark.me() AND path = log;
  END IF;
  IF starts = 0 THEN
    first := header;
  ELSIF last.final <> 10 THEN
    first := '\x0a'::bytea || header;
  END IF;
  new_seq := new_seq + 1;
  UPDATE mnemark.heads SET seq = new_seq WHERE tenant = mnemark.me();
  INSERT INTO mnemark.parts (tenant, seq, path, at, kind, data)
    VALUES (mnemark.me(), new_seq, log, starts, 'a', first || body);
  INSERT INTO mnemark.lines (tenant, id) SELECT mnemark.me(), unnest(ids);
  starts := starts + octet_length(first);
END
$$;
