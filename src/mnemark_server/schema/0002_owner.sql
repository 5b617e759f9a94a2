-- The owner of the tables need not be a superuser, and row-level security is forced on it, too: it sees the rows of
-- all tenants where an administrator's command says so, and in no request.
DO $$
DECLARE of_tenants text;
BEGIN
  FOREACH of_tenants IN ARRAY ARRAY['heads', 'parts', 'lines', 'packs'] LOOP
    EXECUTE format('CREATE POLICY administration ON mnemark.%I TO %I
                    USING (current_setting(''mnemark.administration'', true) = ''on'')', of_tenants, current_user);
  END LOOP;
END
$$;
