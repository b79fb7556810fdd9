/** A person about whom a project stores data: their addresses, and the contact that has or had them, if any. */
export interface DataSubject {
  projectId: string;
  /** Email keys: the requested address or the contact's current one first, then its previous ones. */
  keys: [key: string, ...former: string[]];
  /** The spellings of these addresses that stored text may contain, in lower case. */
  spellings: string[];
  contactId: string | null;
}

/** An erasure under way. Each module with personal data exports `eraseSubject` from `./privacy`, which removes it. */
export interface Erasure extends DataSubject {
  /** Replaces the addresses. Random, so it does not identify the person, and at a domain that never receives mail. */
  alias: string;
  /** The person's own messages, which the ledger finds. */
  messageIds: readonly string[];
}

/**
 * SQL that replaces the addresses inside columns of a table: `set` for SET, and `mentions` for WHERE to find the rows.
 * Parameters: `redactionValues`, which begin with the project.
 */
export function redaction(columns: Record<string, 'text' | 'json' | 'jsonb'>): { set: string; mentions: string } {
  const names = Object.keys(columns);
  return {
    set: names.map((name) => `"${name}" = regexp_replace("${name}"::text, $2, $3, 'gi')::${columns[name]}`).join(', '),
    mentions: `(${names.map((name) => `"${name}"::text ~* $2`).join(' OR ')})`,
  };
}

export const redactionValues = ({ projectId, spellings, alias }: Erasure) => [projectId, patternOf(spellings), alias];

/** Matches a whole address, also URL-encoded. Other addresses may start or end with the same characters. */
function patternOf(spellings: readonly string[]): string {
  const addresses = spellings.map((spelling) => {
    const [local = '', host = ''] = spelling.split('@').map((part) => part.replace(/[^\p{L}\p{N}]/gu, '\\$&'));
    return `${local}(?:@|%40)${host}`;
  });
  return `(?<![\\w.+-])(?:${addresses.join('|')})(?![\\w-]|\\.\\w)`;
}
