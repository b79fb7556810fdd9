/** The name that the API shows: a contact without a name is shown with the local part of its address (spec: Contact). */
export const shownName = ({ name, email }: { name: string; email: string }): string =>
  name === '' ? email.slice(0, email.lastIndexOf('@')) : name;

/** The same in SQL, for the contact `c`. */
export const SHOWN_NAME = `coalesce(nullif(c.name, ''), left(c.email, -strpos(reverse(c.email), '@')))`;
