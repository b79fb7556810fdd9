import { getSource, type Mail } from '@postroom/emails/inbox';
import PostalMime, { type Email } from '@postroom/mime/parse';

/** A parsed mail. @throws DomainError `not_found` */
export async function getMail(id: string): Promise<{ mail: Mail; email: Email }> {
  const { raw, ...mail } = await getSource(id);
  return { mail, email: await PostalMime.parse(raw) };
}
