-- By hand: expressions that Prisma can't say. The order of contacts by name, as `modules/contacts/src/contact-order.ts` has it.
CREATE INDEX "contacts_name_idx" ON "contacts"("project_id", lower(coalesce(nullif("name", ''), left("email", -strpos(reverse("email"), '@')))), "id");
