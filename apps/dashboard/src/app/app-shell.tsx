import { Box, Group, Kbd, Text, UnstyledButton } from '@mantine/core';
import { useHotkeys, useMediaQuery } from '@mantine/hooks';
import { IconMenu2, IconSearch, IconX } from '@tabler/icons-react';
import { Link, Navigate, Outlet, useMatchRoute, useParams, useRouterState } from '@tanstack/react-router';
import { lazy, type RefObject, Suspense, useEffect, useRef, useState } from 'react';
import { Provider } from 'urql';
import { clientFor } from '../data/client.ts';
import { setLiveProject } from '../data/live.ts';
import { prefetchPages } from '../data/prefetch.ts';
import { LiveIndicator, OfflineBanner } from '../components/connection.tsx';
import { Logo } from '../components/logo.tsx';
import { NotificationArea } from '../components/notify.tsx';
import { lazyPage, withFormStyles } from './lazy-page.ts';
import { hasPermission } from './permissions.ts';
import { type NavItem, NAVIGATION } from './navigation.ts';
import { NotificationBell } from './notification-bell.tsx';
import { ProjectChoice } from './project-choice.tsx';
import { SendingHoldBanner } from './sending-hold.tsx';
import { useSession } from './session.tsx';
import { UserButton } from './user-button.tsx';

const NoSuchProject = lazyPage(() => import('../pages/projects.tsx'), 'NoSuchProject');
const CommandPalette = lazy(() => withFormStyles(() => import('./command-palette.tsx')));

/** The shell around every project page: navigation, project switcher and user menu. */
export function ProjectShell() {
  const { projectId } = useParams({ from: '/auth/p/$projectId' });
  const { projects } = useSession();
  const project = projects.find(({ id }) => id === projectId);
  // As it was, since a user who left it or was removed has it no more.
  const [known, setKnown] = useState(project);
  if (project !== undefined && project !== known) setKnown(project);
  // On phones the navigation is behind a button.
  const [isOpen, setOpen] = useState(false);
  const isPhone = useMediaQuery('(width < 48em)', undefined, { getInitialValueInEffect: false });
  useEffect(() => setLiveProject(projectId), [projectId]);
  useEffect(prefetchPages, []);
  const main = useRef<HTMLElement>(null);
  useFocusOnNavigation(main);
  if (project === undefined) {
    if (known?.id !== projectId) return <NoSuchProject />;
    return <Navigate to="/projects" state={{ left: known.name }} replace ignoreBlocker />;
  }
  return (
    <Provider value={clientFor(projectId)}>
      <a href="#content" className="skip">
        Skip to content
      </a>
      <div className="shell-top">
        <header className="shell-header">
          <UnstyledButton
            className="finder-button phone-only"
            onClick={() => setOpen(!isOpen)}
            aria-label={isOpen ? 'Close menu' : 'Open menu'}
            aria-expanded={isOpen}
          >
            {isOpen ? <IconX size={18} aria-hidden /> : <IconMenu2 size={18} aria-hidden />}
          </UnstyledButton>
          <Box visibleFrom="sm" w={192}>
            <Logo />
          </Box>
          <ProjectChoice />
          <Group gap="md" wrap="nowrap" ml="auto" flex="none">
            <LiveIndicator />
            <CommandPaletteButton />
            <NotificationBell key={projectId} />
            <UserButton />
          </Group>
        </header>
        {isPhone && <NotificationArea />}
        <nav className="shell-nav" data-open={isOpen} aria-label="Pages">
          <div className="nav-items">
            <NavItems onGo={() => setOpen(false)} />
          </div>
          {!isPhone && <NotificationArea />}
        </nav>
      </div>
      <main ref={main} key={projectId} id="content" className="shell-main" tabIndex={-1}>
        <OfflineBanner />
        <SendingHoldBanner />
        <Outlet />
      </main>
    </Provider>
  );
}

/**
 * Focuses a new page if the focused element is gone, so that Tab moves to the first control of the page, and screen readers start to
 * read it.
 */
function useFocusOnNavigation(main: RefObject<HTMLElement | null>): void {
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const previous = useRef<string>(undefined);
  useEffect(() => {
    const isFirst = previous.current === undefined;
    previous.current = pathname;
    if (isFirst) return undefined;
    // Closing dialogs restore the focus first.
    const timer = setTimeout(() => {
      if (document.activeElement === document.body) main.current?.focus({ preventScroll: true });
    });
    return () => clearTimeout(timer);
  }, [pathname, main]);
}

function NavItems({ onGo }: { onGo: () => void }) {
  const { projectId } = useParams({ from: '/auth/p/$projectId' });
  const role = useSession().projects.find(({ id }) => id === projectId)?.role ?? 'viewer';
  return NAVIGATION.map(({ heading, places }) => (
    <Box key={heading} mb="sm">
      {heading !== '' && (
        <Text size="xs" fw={600} c="dimmed" px="sm" pt="xs" pb={4}>
          {heading}
        </Text>
      )}
      {places
        .filter(({ needs }) => needs === undefined || hasPermission(role, needs))
        .map((place) => (
          <NavItemLink key={place.to} place={place} projectId={projectId} onGo={onGo} />
        ))}
    </Box>
  ));
}

function NavItemLink({
  place: { label, to, also, icon: Icon },
  projectId,
  onGo,
}: {
  place: NavItem;
  projectId: string;
  onGo: () => void;
}) {
  // The page that was chosen, also while it loads.
  const pending = useRouterState({ select: ({ status }) => status === 'pending' }) ? { pending: true } : {};
  const matches = useMatchRoute();
  const isIn = (page: NavItem['to']) =>
    matches({ to: page, params: { projectId }, fuzzy: page !== '/p/$projectId', ...pending }) !== false;
  const active = isIn(to) || (also !== undefined && isIn(also));
  return (
    <Link
      to={to}
      params={{ projectId } as never}
      // The link also sets its own active state by URL prefix, and every URL starts with the home page's.
      activeOptions={{ exact: to === '/p/$projectId' }}
      aria-current={active ? 'page' : undefined}
      onClick={onGo}
      className="place"
    >
      <Icon size={18} stroke={1.7} aria-hidden />
      {label}
    </Link>
  );
}

/** Opens the command palette, which loads on first use. */
function CommandPaletteButton() {
  const [wanted, setWanted] = useState(0);
  const [query, setQuery] = useState('');
  const [isOpening, setOpening] = useState(false);
  const ask = () => {
    setWanted((times) => times + 1);
    // Its field has the focus already if it is open.
    if (document.activeElement?.closest('.finder') == null) setOpening(true);
  };
  // Also from a field, as the palette's own has the focus until it has closed.
  useHotkeys([['mod+K', ask]], []);
  // What is typed before its field is there belongs to it.
  useEffect(() => {
    if (!isOpening) return undefined;
    const type = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Escape') setOpening(false);
      else if (event.key === 'Backspace') setQuery((text) => text.slice(0, -1));
      else if (event.key.length === 1) setQuery((text) => text + event.key);
      else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', type, true);
    return () => window.removeEventListener('keydown', type, true);
  }, [isOpening]);
  return (
    <>
      <UnstyledButton onClick={ask} className="finder-button">
        <IconSearch size={16} aria-hidden />
        <span className="visually-hidden">Search</span>
        <Text size="sm" c="dimmed" visibleFrom="md" aria-hidden>
          Search…
        </Text>
        <Kbd size="xs" visibleFrom="md" aria-hidden>
          Ctrl K
        </Kbd>
      </UnstyledButton>
      {wanted > 0 && (
        <Suspense>
          <CommandPalette asked={wanted} query={query} onQueryChange={setQuery} onFocus={() => setOpening(false)} />
        </Suspense>
      )}
    </>
  );
}
