import { createRootRoute, createRoute, Navigate, Outlet } from '@tanstack/react-router';
import { NoSuchPage } from '../pages/not-found.tsx';
import { ProjectShell } from './app-shell.tsx';
import { AuthGuard } from './auth-guard.tsx';
import { lazyPage } from './lazy-page.ts';
import { useSession } from './session.tsx';

const projectsPage = () => import('../pages/projects.tsx');

export const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: lazyPage(projectsPage, 'NotFound', { forms: false }),
});

/** All routes below require a session. */
export const authRoute = createRoute({ getParentRoute: () => rootRoute, id: 'auth', component: AuthGuard });

export const startRoute = createRoute({ getParentRoute: () => authRoute, path: '/', component: Start });

/** The user's projects, outside of any of them. */
export const projectsRoute = createRoute({
  getParentRoute: () => authRoute,
  path: '/projects',
  component: lazyPage(projectsPage, 'Projects'),
});

/** Where the link that confirms a user's new email address leads. */
export const confirmEmailRoute = createRoute({
  getParentRoute: () => authRoute,
  path: '/confirm-email',
  component: lazyPage(() => import('../pages/account/confirm-email.tsx'), 'ConfirmEmail'),
  validateSearch: (search: Record<string, unknown>): { token?: string } =>
    typeof search.token === 'string' ? { token: search.token } : {},
});

/** The parent route of all project pages. */
export const projectRoute = createRoute({
  getParentRoute: () => authRoute,
  path: '/p/$projectId',
  component: ProjectShell,
  notFoundComponent: NoSuchPage,
});

/** Redirects to the first project; of a user without one, to the list of none, which says so. */
function Start() {
  const { projects } = useSession();
  const [first] = projects;
  if (first === undefined) return <Navigate to="/projects" replace />;
  return <Navigate to="/p/$projectId" params={{ projectId: first.id }} replace />;
}
