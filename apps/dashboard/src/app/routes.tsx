import { createRootRoute, createRoute, Navigate, Outlet } from '@tanstack/react-router';
import { NoSuchPage, NotFound } from '../pages/not-found.tsx';
import { ProjectShell } from './app-shell.tsx';
import { AuthGuard } from './auth-guard.tsx';
import { useSession } from './session.tsx';

export const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

/** All routes below require a session. */
export const authRoute = createRoute({ getParentRoute: () => rootRoute, id: 'auth', component: AuthGuard });

export const startRoute = createRoute({ getParentRoute: () => authRoute, path: '/', component: Start });

/** The parent route of all project pages. */
export const projectRoute = createRoute({
  getParentRoute: () => authRoute,
  path: '/p/$projectId',
  component: ProjectShell,
  notFoundComponent: NoSuchPage,
});

/** Redirects to the first project. */
function Start() {
  const { projects } = useSession();
  const [first] = projects;
  if (first === undefined) return <NotFound />;
  return <Navigate to="/p/$projectId" params={{ projectId: first.id }} replace />;
}
