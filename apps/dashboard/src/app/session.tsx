import { useParams } from '@tanstack/react-router';
import { createContext, use } from 'react';
import { hasPermission, type Permission, type Role } from './permissions.ts';

export interface ProjectOfMine {
  id: string;
  name: string;
  role: Role;
}

/** The signed-in user and their projects. */
export interface SignedIn {
  me: { id: string; name: string; email: string; twoFactorEnabled: boolean };
  projects: ProjectOfMine[];
  /** Reloads both after a change. */
  reload: () => Promise<void>;
}

export const SessionContext = createContext<SignedIn | null>(null);

/** The current session. Pages render only with one. */
export function useSession(): SignedIn {
  const session = use(SessionContext);
  if (session === null) throw new Error('This page requires a signed-in user.');
  return session;
}

/** The project in the URL, with the user's role in it. */
export function useProject(): ProjectOfMine {
  const { projectId } = useParams({ from: '/auth/p/$projectId' });
  const project = useSession().projects.find(({ id }) => id === projectId);
  if (project === undefined) throw new Error('This page belongs to a project.');
  return project;
}

/** Whether the user has a permission in this project, to hide forbidden actions. */
export function usePermission(permission: Permission): boolean {
  return hasPermission(useProject().role, permission);
}
