const HEADINGS: Record<string, string> = {
  email: 'Emails',
  contact: 'Contacts',
  campaign: 'Campaigns',
  ab_test: 'A/B tests',
  form: 'Forms',
  import: 'Imports',
  custom_event: 'Custom events',
};

/** The types that endpoints subscribe to, by heading: first those that we name, then the others. Tests reach an endpoint in any case. */
export function byHeading<Type extends { name: string }>(types: readonly Type[]): [heading: string, types: Type[]][] {
  const families = Map.groupBy(types, ({ name }) => name.slice(0, name.indexOf('.')));
  families.delete('webhook');
  const order = new Set([...Object.keys(HEADINGS), ...families.keys()]);
  return [...order].flatMap((family) => {
    const members = families.get(family);
    return members === undefined ? [] : [[HEADINGS[family] ?? family, members]];
  });
}
