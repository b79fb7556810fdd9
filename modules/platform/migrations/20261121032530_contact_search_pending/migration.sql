-- By hand. A search reads the index's list of pending entries from end to end, up to 4 MB unless it says otherwise; that
-- is 20 ms. Shorter lists cost an import nothing.
ALTER INDEX IF EXISTS "contacts_search_idx" SET (gin_pending_list_limit = 512);
ALTER INDEX "contacts_custom_fields_idx" SET (gin_pending_list_limit = 512);
