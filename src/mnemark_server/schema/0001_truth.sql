-- The truth of all tenants. Every key begins with the tenant, so that a table can be spread over machines later.
CREATE TABLE mnemark.tenants (
  tenant bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
  limits jsonb NOT NULL DEFAULT '{}',
  created timestamptz NOT NULL DEFAULT now()
);

-- How far the truth of a tenant goes, and which node may change its documents. A higher epoch fences off a node
-- that held the lease before.
CREATE TABLE mnemark.heads (
  tenant bigint PRIMARY KEY REFERENCES mnemark.tenants ON DELETE CASCADE,
  seq bigint NOT NULL DEFAULT 0,
  epoch bigint NOT NULL DEFAULT 0,
  erased bigint NOT NULL DEFAULT 0, -- the row up to which lines were last taken out of logs
  night date NOT NULL DEFAULT '-infinity', -- the last one for which it was consolidated
  night_seq bigint NOT NULL DEFAULT 0, -- how far it went by then
  salt bytea NOT NULL, -- of the marks of what is redacted, which nodes make alike
  lease_owner text NOT NULL DEFAULT '',
  lease_until timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);

-- What files consist of: 'a' is a piece appended at a byte, 'd' a whole document, 'x' says that a file is gone.
CREATE TABLE mnemark.parts (
  tenant bigint NOT NULL REFERENCES mnemark.tenants ON DELETE CASCADE,
  seq bigint NOT NULL,
  path text NOT NULL,
  at bigint NOT NULL DEFAULT 0,
  kind text NOT NULL CHECK (kind IN ('a', 'd', 'x')),
  data bytea NOT NULL DEFAULT '',
  PRIMARY KEY (tenant, seq)
) PARTITION BY HASH (tenant);
CREATE INDEX ON mnemark.parts (tenant, path, at);

-- Ids of the lines that were appended, so that one that is sent again is there once.
CREATE TABLE mnemark.lines (
  tenant bigint NOT NULL REFERENCES mnemark.tenants ON DELETE CASCADE,
  id text NOT NULL,
  PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);

-- What nodes derived of a memory, by the version that did; never the truth.
CREATE TABLE mnemark.packs (
  tenant bigint NOT NULL REFERENCES mnemark.tenants ON DELETE CASCADE,
  fingerprint text NOT NULL,
  seq bigint NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (tenant, fingerprint)
);
ALTER TABLE mnemark.packs ALTER COLUMN data SET STORAGE EXTERNAL;

-- The keys of clients, as SHA-256.
CREATE TABLE mnemark.keys (
  hash bytea PRIMARY KEY,
  tenant bigint NOT NULL REFERENCES mnemark.tenants ON DELETE CASCADE,
  name text NOT NULL,
  scopes text[] NOT NULL,
  created timestamptz NOT NULL DEFAULT now(),
  expires timestamptz NOT NULL DEFAULT 'infinity',
  UNIQUE (tenant, name)
);

-- What was deleted, and what that did not reach; a tenant that is gone has no row but this one.
CREATE TABLE mnemark.receipts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  what jsonb NOT NULL
);

DO $$
BEGIN
  FOR n IN 0..15 LOOP
    EXECUTE format('CREATE TABLE mnemark.parts_%s PARTITION OF mnemark.parts
                    FOR VALUES WITH (MODULUS 16, REMAINDER %s)', n, n);
    EXECUTE format('CREATE TABLE mnemark.lines_%s PARTITION OF mnemark.lines
                    FOR VALUES WITH (MODULUS 16, REMAINDER %s)', n, n);
  END LOOP;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'mnemark_app') THEN
    CREATE ROLE mnemark_app NOLOGIN NOBYPASSRLS;
  END IF;
  EXECUTE format('GRANT mnemark_app TO %I', current_user);
END
$$;

-- The tenant of this transaction; without one there are no rows.
CREATE FUNCTION mnemark.me() RETURNS bigint LANGUAGE sql STABLE
RETURN nullif(current_setting('mnemark.tenant', true), '')::bigint;

DO $$
DECLARE of_tenants text;
BEGIN
  FOREACH of_tenants IN ARRAY ARRAY['heads', 'parts', 'lines', 'packs'] LOOP
    EXECUTE format('ALTER TABLE mnemark.%I ENABLE ROW LEVEL SECURITY', of_tenants);
    EXECUTE format('ALTER TABLE mnemark.%I FORCE ROW LEVEL SECURITY', of_tenants);
    EXECUTE format('CREATE POLICY own ON mnemark.%I TO mnemark_app
                    USING (tenant = mnemark.me()) WITH CHECK (tenant = mnemark.me())', of_tenants);
  END LOOP;
END
$$;

-- Append lines to a log of this transaction's tenant. `known` has ids that are there already; then nothing is
-- written. `starts` is the byte at which the lines begin, behind the header of a new log.
CREATE FUNCTION mnemark.append(
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
  SELECT at + octet_length(data) AS size, kind INTO last FROM mnemark.parts
    WHERE tenant = mnemark.me() AND path = log ORDER BY at DESC, seq DESC LIMIT 1;
  starts := coalesce(last.size, 0);
  IF last.kind = 'x' THEN
    DELETE FROM mnemark.parts WHERE tenant = mnemark.me() AND path = log;
  END IF;
  IF starts = 0 THEN
    first := header;
  END IF;
  new_seq := new_seq + 1;
  UPDATE mnemark.heads SET seq = new_seq WHERE tenant = mnemark.me();
  INSERT INTO mnemark.parts (tenant, seq, path, at, kind, data)
    VALUES (mnemark.me(), new_seq, log, starts, 'a', first || body);
  INSERT INTO mnemark.lines (tenant, id) SELECT mnemark.me(), unnest(ids);
  starts := starts + octet_length(first);
END
$$;

-- The one question that is asked before a tenant is known.
CREATE FUNCTION mnemark.of_key(
  given bytea, OUT tenant bigint, OUT name text, OUT state text, OUT scopes text[], OUT limits jsonb
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT t.tenant, t.name, t.state, k.scopes, t.limits FROM mnemark.keys k JOIN mnemark.tenants t USING (tenant)
    WHERE k.hash = given AND k.expires > now()
$$;

-- Up to which row lines were last taken out, of the memories that a node has copies of.
CREATE FUNCTION mnemark.erased_of(given bigint[]) RETURNS TABLE (tenant bigint, erased bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT h.tenant, h.erased FROM mnemark.heads h WHERE h.tenant = ANY (given)
$$;

-- A memory that changed since its last night, for the node that asks first; none where all are done.
CREATE FUNCTION mnemark.claim_night(tonight date) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = '' AS $$
  UPDATE mnemark.heads SET night = tonight, night_seq = seq WHERE tenant = (
    SELECT h.tenant FROM mnemark.heads h JOIN mnemark.tenants t USING (tenant)
      WHERE h.night < tonight AND h.seq > h.night_seq AND t.state = 'active'
      ORDER BY h.night, h.tenant LIMIT 1 FOR UPDATE OF h SKIP LOCKED
  ) RETURNING tenant
$$;

GRANT USAGE ON SCHEMA mnemark TO mnemark_app;
GRANT SELECT, UPDATE ON mnemark.heads TO mnemark_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemark.parts TO mnemark_app;
GRANT SELECT, INSERT ON mnemark.lines TO mnemark_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemark.packs TO mnemark_app;
REVOKE ALL ON FUNCTION mnemark.of_key, mnemark.erased_of, mnemark.claim_night FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemark.of_key, mnemark.erased_of, mnemark.claim_night TO mnemark_app;
