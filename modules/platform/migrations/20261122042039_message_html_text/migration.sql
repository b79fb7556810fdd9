-- The text that is made from an email's HTML when the email is accepted, where its sender gave none. It is kept beside `text`,
-- which stays what the sender gave.
ALTER TABLE "message_contents" ADD COLUMN "html_text" TEXT;
