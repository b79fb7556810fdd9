/** The name that the API shows: a contact without a name is shown with the local part of its address (spec: Contact). */
export const shownName = ({ name, email }: { name: string; email: string }): string =>
  name === '' ? email.slice(0, email.lastIndexOf('@')) : name;

/** The same in SQL, for the row `contact` of the table contacts. */
export const shownNameSql = (contact: string): string =>
  `coalesce(nullif(${contact}.name, ''), left(${contact}.email, -strpos(reverse(${contact}.email), '@')))`;
