import type { Role } from '../../generated/graphql.ts';

/** Roles, most powerful first, with descriptions. */
export const ROLES: Record<Role, { label: string; asA: string; does: string }> = {
  owner: { label: 'Owner', asA: 'an owner', does: 'Full access, including managing owners.' },
  admin: {
    label: 'Admin',
    asA: 'an admin',
    does: 'Everything except managing owners: API keys, domains, secrets and members.',
  },
  member: { label: 'Member', asA: 'a member', does: 'Contacts, templates, campaigns and emails.' },
  viewer: { label: 'Viewer', asA: 'a viewer', does: 'Read-only access.' },
};
