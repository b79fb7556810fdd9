-- DropForeignKey
ALTER TABLE "contacts" DROP CONSTRAINT "contacts_project_id_fkey";

-- By hand: who deletes a project deletes its contacts, as the reference did.
CREATE FUNCTION delete_contacts_of_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM contacts WHERE project_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER delete_contacts AFTER DELETE ON projects FOR EACH ROW EXECUTE FUNCTION delete_contacts_of_project();
