import { createRootRoute, createRoute, Navigate, Outlet } from '@tanstack/react-router';
import { NoSuchPage, NotFound } from '../pages/not-found.tsx';
import { ProjectShell } from './app-shell.tsx';
import { AuthGuard } from './auth-guard.tsx';
import { useSession } from './session.tsx';

export const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

/** Everything below needs somebody who is signed in. */
export const authRoute = createRoute({ getParentRoute: () => rootRoute, id: 'auth', component: AuthGuard });

export const startRoute = createRoute({ getParentRoute: () => authRoute, path: '/', component: Start });

/** The parent of every page of a project. */
export const projectRoute = createRoute({
  getParentRoute: () => authRoute,
  path: '/p/$projectId',
  component: ProjectShell,
  notFoundComponent: NoSuchPage,
});

/** Leads to the project that was open last, or to the first one. */
function Start() {
  const { projects } = useSession();
  const [first] = projects;
  if (first === undefined) return <NotFound />;
  return <Navigate to="/p/$projectId" params={{ projectId: first.id }} replace />;
}
