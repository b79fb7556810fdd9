import type { SpotlightActionData } from '@mantine/spotlight';
import { IconPlus } from '@tabler/icons-react';
import { hasPermission, type Permission } from './permissions.ts';
import type { ProjectOfMine } from './session.tsx';

/** What the command palette can start: the path that opens its form, relative to the project. */
const COMMANDS: { label: string; path: string; needs: Permission; keywords?: string }[] = [
  { label: 'New campaign', path: 'campaigns#new', needs: 'write', keywords: 'create newsletter send' },
  { label: 'New journey', path: 'journeys#new', needs: 'write', keywords: 'create automation' },
  { label: 'New template', path: 'templates#new', needs: 'write', keywords: 'create' },
  { label: 'Add contact', path: 'contacts#new', needs: 'write', keywords: 'create new' },
  { label: 'Import contacts', path: 'imports/new', needs: 'write', keywords: 'csv upload' },
  { label: 'New form', path: 'forms/new', needs: 'write', keywords: 'create subscribe sign up' },
  { label: 'New group', path: 'groups#new', needs: 'write', keywords: 'create list' },
  { label: 'New segment', path: 'segments/new', needs: 'write', keywords: 'create filter' },
  { label: 'Add domain', path: 'domains#new', needs: 'manage', keywords: 'create new' },
  { label: 'Add endpoint', path: 'webhooks/new', needs: 'write', keywords: 'create new webhook' },
  { label: 'Create API key', path: 'keys#new', needs: 'manage', keywords: 'new token secret' },
  { label: 'Invite member', path: 'members#new', needs: 'manage', keywords: 'add user person' },
];

export const commands = (
  { id, role }: ProjectOfMine,
  go: (path: string) => () => void,
): (SpotlightActionData & { label: string })[] =>
  COMMANDS.filter(({ needs }) => hasPermission(role, needs)).map(({ label, path, keywords = '' }) => ({
    id: path,
    label,
    keywords,
    leftSection: <IconPlus size={20} stroke={1.6} aria-hidden />,
    onClick: go(`/p/${id}/${path}`),
  }));
