-- Browsers that have signed in with a key, as the SHA-256 of their cookies. A session is over with its key.
CREATE TABLE mnemark.sessions (
  hash bytea PRIMARY KEY,
  tenant bigint NOT NULL REFERENCES mnemark.tenants ON DELETE CASCADE,
  key bytea NOT NULL REFERENCES mnemark.keys ON DELETE CASCADE,
  created timestamptz NOT NULL DEFAULT now(),
  expires timestamptz NOT NULL
);
CREATE INDEX ON mnemark.sessions (tenant, created);
CREATE INDEX ON mnemark.sessions (key);

ALTER TABLE mnemark.sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE mnemark.sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON mnemark.sessions TO mnemark_app
  USING (tenant = mnemark.me()) WITH CHECK (tenant = mnemark.me());
DO $$
BEGIN
  EXECUTE format('CREATE POLICY administration ON mnemark.sessions TO %I
                  USING (current_setting(''mnemark.administration'', true) = ''on'')', current_user);
END
$$;

-- What a session opens, which is asked before its tenant is known: as much as its key does now.
CREATE FUNCTION mnemark.of_session(
  given bytea, OUT tenant bigint, OUT name text, OUT state text, OUT scopes text[], OUT limits jsonb
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' AS $$
BEGIN
  PERFORM set_config('mnemark.administration', 'on', true); -- for the owner of the tables, see 0002
  SELECT t.tenant, t.name, t.state, k.scopes, t.limits INTO tenant, name, state, scopes, limits
    FROM mnemark.sessions s JOIN mnemark.keys k ON k.hash = s.key AND k.tenant = s.tenant
      JOIN mnemark.tenants t ON t.tenant = s.tenant
    WHERE s.hash = given AND s.expires > now() AND k.expires > now();
END
$$;

GRANT SELECT, INSERT, DELETE ON mnemark.sessions TO mnemark_app;
REVOKE ALL ON FUNCTION mnemark.of_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemark.of_session TO mnemark_app;
