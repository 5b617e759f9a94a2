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
