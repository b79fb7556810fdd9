import './command-palette.css';
import '@mantine/core/styles/Mark.css';
import '@mantine/spotlight/styles.css';
import { Spotlight, spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { IconBuilding, IconSearch, IconUser } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useDebouncedValue } from '@mantine/hooks';
import { commands } from './commands.tsx';
import { NAVIGATION } from './navigation.ts';
import { hasPermission } from './permissions.ts';
import { recordPath } from './record-path.ts';
import { useRecords } from './search-records.ts';
import { useProject, useSession } from './session.tsx';

const LABEL = 'Search, or run a command';

/** Typing pauses this long before the server is asked, in milliseconds. */
const DEBOUNCE_MS = 200;

interface Group {
  group: string;
  actions: SpotlightActionData[];
}

interface CommandPaletteProps {
  /** How often it was asked for; it opens each time. */
  asked: number;
  query: string;
  onQueryChange: (query: string) => void;
  /** Its field has the focus. */
  onFocus: () => void;
}

/** The command palette (Ctrl+K): finds pages, projects and records by name, address or id, and runs commands. */
export default function CommandPalette({ asked, query, onQueryChange, onFocus }: CommandPaletteProps) {
  const navigate = useNavigate();
  const project = useProject();
  const { projects } = useSession();
  const [text] = useDebouncedValue(query.trim(), DEBOUNCE_MS);
  const records = useRecords(text);
  useEffect(() => spotlight.open(), [asked]);
  const go = (path: string) => () => void navigate({ to: path });

  const pages = NAVIGATION.flatMap(({ heading, places }) =>
    places
      .filter(({ needs }) => needs === undefined || hasPermission(project.role, needs))
      .map(({ label, to, icon: Icon, keywords = '' }) => ({
        id: to,
        label,
        description: heading,
        keywords,
        leftSection: <Icon size={20} stroke={1.6} aria-hidden />,
        onClick: go(to.replace('$projectId', project.id)),
      })),
  );
  const account = {
    id: 'account',
    label: 'Your account',
    keywords: 'password two-factor authentication 2fa sessions',
    leftSection: <IconUser size={20} stroke={1.6} aria-hidden />,
    onClick: go(`/p/${project.id}/account`),
  };
  const others = projects
    .filter(({ id }) => id !== project.id)
    .map(({ id, name }) => ({
      id,
      label: name,
      leftSection: <IconBuilding size={20} stroke={1.6} aria-hidden />,
      onClick: go(`/p/${id}`),
    }));
  const byId = recordPath(project.id, query.trim());
  const found: Group[] = [
    ...(byId === undefined
      ? []
      : [{ group: 'By ID', actions: [{ id: 'by-id', label: query.trim(), description: 'Open', onClick: go(byId) }] }]),
    ...records.groups.map(({ group, rows }) => ({
      group,
      actions: rows.map(({ id, label, description, path, icon: Icon }) => ({
        id,
        label,
        description,
        leftSection: <Icon size={20} stroke={1.6} aria-hidden />,
        onClick: go(`/p/${project.id}/${path}`),
      })),
    })),
  ];
  return (
    <Spotlight
      actions={[
        ...matching(query, { group: 'Pages', actions: [...pages, account] }),
        ...matching(query, { group: 'Commands', actions: commands(project, go) }),
        ...found,
        ...matching(query, { group: 'Projects', actions: others }),
      ]}
      // The server has matched the records; what it found need not contain the text.
      filter={(_, actions) => actions}
      query={query}
      onQueryChange={onQueryChange}
      title={LABEL}
      className="finder"
      shortcut={null}
      nothingFound={
        records.isLoading || text !== query.trim() ? 'Searching…' : (records.problem?.message ?? 'No matches')
      }
      scrollable
      maxHeight={420}
      // In a low window, such as at a zoom of 400 %, the space above and below is needed for what was found.
      yOffset="clamp(8px, 10dvh, 80px)"
      searchProps={{
        leftSection: <IconSearch size={20} stroke={1.6} aria-hidden />,
        placeholder: `${LABEL}…`,
        'aria-label': LABEL,
        maxLength: 200,
        onFocus,
      }}
    />
  );
}

/** The group with the actions that have a word beginning with each word typed; none if it would be empty. */
function matching(query: string, { group, actions }: Group): Group[] {
  const words = query.toLowerCase().split(/\s+/);
  const found = actions.filter(({ label, description, keywords }) => {
    const text = ` ${label} ${description} ${String(keywords)}`.toLowerCase();
    return words.every((word) => text.includes(` ${word}`));
  });
  return found.length === 0 ? [] : [{ group, actions: found }];
}
