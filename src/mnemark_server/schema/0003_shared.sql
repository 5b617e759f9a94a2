-- What all nodes count together, and whom the tokens of an issuer let in.

-- Requests that a tenant has left: a node takes some at a time. A crash fills it.
CREATE UNLOGGED TABLE mnemark.buckets (
  tenant bigint PRIMARY KEY REFERENCES mnemark.tenants ON DELETE CASCADE,
  remaining double precision NOT NULL,
  at timestamptz NOT NULL
);

-- People as a server of identities names them.
CREATE TABLE mnemark.subjects (
  issuer text NOT NULL,
  subject text NOT NULL,
  tenant bigint NOT NULL REFERENCES mnemark.tenants ON DELETE CASCADE,
  PRIMARY KEY (issuer, subject)
);

-- Up to where something was read, such as a log by what learns from it.
CREATE TABLE mnemark.positions (
  tenant bigint NOT NULL REFERENCES mnemark.tenants ON DELETE CASCADE,
  name text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (tenant, name)
);

-- Turns that wait for a language model; a claim moves `next_try` to the end of its lease.
CREATE TABLE mnemark.queue (
  id bigint GENERATED ALWAYS AS IDENTITY,
  tenant bigint NOT NULL REFERENCES mnemark.tenants ON DELETE CASCADE,
  path text NOT NULL,
  first bigint NOT NULL,
  last bigint NOT NULL,
  tries int NOT NULL DEFAULT 0,
  next_try double precision NOT NULL,
  failed boolean NOT NULL DEFAULT false,
  reason text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, path, first, last)
);

-- What a language model cost.
CREATE TABLE mnemark.spend (
  tenant bigint NOT NULL REFERENCES mnemark.tenants ON DELETE CASCADE,
  day date NOT NULL,
  what text NOT NULL,
  model text NOT NULL,
  calls bigint NOT NULL,
  tokens_in bigint NOT NULL,
  tokens_out bigint NOT NULL,
  PRIMARY KEY (tenant, day, what, model)
);

DO $$
DECLARE of_tenants text;
BEGIN
  FOREACH of_tenants IN ARRAY ARRAY['buckets', 'positions', 'queue', 'spend'] LOOP
    EXECUTE format('ALTER TABLE mnemark.%I ENABLE ROW LEVEL SECURITY', of_tenants);
    EXECUTE format('ALTER TABLE mnemark.%I FORCE ROW LEVEL SECURITY', of_tenants);
    EXECUTE format('CREATE POLICY own ON mnemark.%I TO mnemark_app
                    USING (tenant = mnemark.me()) WITH CHECK (tenant = mnemark.me())', of_tenants);
    EXECUTE format('CREATE POLICY administration ON mnemark.%I TO %I
                    USING (current_setting(''mnemark.administration'', true) = ''on'')', of_tenants, current_user);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON mnemark.%I TO mnemark_app', of_tenants);
  END LOOP;
END
$$;

-- What requests ask all the time, as one statement each: the tenant is set for the length of it, and the functions
-- are of the role of nodes, so that row-level security holds in them.

-- The rows after one that a node has.
CREATE FUNCTION mnemark.newer(given bigint, after bigint)
RETURNS TABLE (seq bigint, path text, at bigint, kind text, data bytea)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' AS $$
BEGIN
  PERFORM set_config('mnemark.tenant', given::text, true);
  IF EXISTS (SELECT FROM mnemark.heads h WHERE h.tenant = given AND h.seq > after) THEN
    RETURN QUERY SELECT p.seq, p.path, p.at, p.kind, p.data FROM mnemark.parts p
      WHERE p.tenant = given AND p.seq > after ORDER BY p.seq;
  END IF;
END
$$;

-- Append as `append` does: the first row has what that returned, the others are the rows after `after`.
CREATE FUNCTION mnemark.append_to(
  given bigint, log text, header bytea, body bytea, ids text[], after bigint
) RETURNS TABLE (known text[], seq bigint, path text, at bigint, kind text, data bytea)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET lock_timeout = '5s' AS $$
DECLARE made record;
BEGIN
  PERFORM set_config('mnemark.tenant', given::text, true);
  SELECT * INTO made FROM mnemark.append(log, header, body, ids);
  RETURN QUERY SELECT made.known, made.new_seq, ''::text, made.starts, ''::text, ''::bytea;
  RETURN QUERY SELECT NULL::text[], n.seq, n.path, n.at, n.kind, n.data FROM mnemark.newer(given, after) n;
END
$$;

-- Take the lease for a node, unless another has it: the first row has its epoch and the row by which lines were
-- last taken out of logs, or none of both; the others are the rows after `after`. No row: there is no such tenant.
CREATE FUNCTION mnemark.lease(given bigint, node text, seconds double precision, after bigint)
RETURNS TABLE (epoch bigint, erased bigint, seq bigint, path text, at bigint, kind text, data bytea)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET lock_timeout = '5s' AS $$
DECLARE here record;
BEGIN
  PERFORM set_config('mnemark.tenant', given::text, true);
  SELECT h.lease_owner IN ('', node) OR h.lease_until < clock_timestamp() AS free INTO here
    FROM mnemark.heads h WHERE h.tenant = given FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF NOT here.free THEN
    RETURN QUERY SELECT NULL::bigint, NULL::bigint, NULL::bigint, ''::text, NULL::bigint, ''::text, ''::bytea;
    RETURN;
  END IF;
  -- Its own lease is one that the node could not end: it makes one change of a tenant at a time.
  RETURN QUERY UPDATE mnemark.heads h SET epoch = h.epoch + 1, lease_owner = node,
      lease_until = clock_timestamp() + make_interval(secs => seconds)
    WHERE h.tenant = given
    RETURNING h.epoch, h.erased, h.seq, ''::text, NULL::bigint, ''::text, ''::bytea;
  RETURN QUERY SELECT NULL::bigint, NULL::bigint, n.seq, n.path, n.at, n.kind, n.data
    FROM mnemark.newer(given, after) n;
END
$$;

DO $$
DECLARE asked text;
BEGIN
  GRANT CREATE ON SCHEMA mnemark TO mnemark_app; -- whoever a function is given to needs it for that moment
  FOREACH asked IN ARRAY ARRAY['newer', 'append_to', 'lease'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION mnemark.%I FROM PUBLIC', asked);
    EXECUTE format('GRANT EXECUTE ON FUNCTION mnemark.%I TO %I', asked, current_user);
    EXECUTE format('ALTER FUNCTION mnemark.%I OWNER TO mnemark_app', asked);
  END LOOP;
  REVOKE CREATE ON SCHEMA mnemark FROM mnemark_app;
END
$$;

-- Take up to `want` of the requests that this transaction's tenant may send, of `most` a minute.
CREATE FUNCTION mnemark.take(most double precision, want double precision, OUT got double precision)
LANGUAGE plpgsql AS $$
DECLARE here record;
BEGIN
  INSERT INTO mnemark.buckets VALUES (mnemark.me(), most, clock_timestamp()) ON CONFLICT DO NOTHING;
  SELECT remaining, at INTO here FROM mnemark.buckets WHERE tenant = mnemark.me() FOR UPDATE;
  here.remaining := least(most, here.remaining + most * extract(epoch FROM clock_timestamp() - here.at) / 60);
  got := greatest(least(want, floor(here.remaining)), 0);
  UPDATE mnemark.buckets SET remaining = here.remaining - got, at = clock_timestamp()
    WHERE tenant = mnemark.me();
END
$$;

-- What the tenant of this transaction is called, and its limits.
CREATE FUNCTION mnemark.myself(OUT name text, OUT limits jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT t.name, t.limits FROM mnemark.tenants t WHERE t.tenant = mnemark.me()
$$;

CREATE FUNCTION mnemark.of_subject(
  by_issuer text, given text, OUT tenant bigint, OUT name text, OUT state text, OUT limits jsonb
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT t.tenant, t.name, t.state, t.limits FROM mnemark.subjects s JOIN mnemark.tenants t USING (tenant)
    WHERE s.issuer = by_issuer AND s.subject = given
$$;
REVOKE ALL ON FUNCTION mnemark.of_subject, mnemark.myself FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemark.of_subject, mnemark.myself TO mnemark_app;
