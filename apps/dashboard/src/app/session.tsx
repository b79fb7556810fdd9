import { useParams } from '@tanstack/react-router';
import { createContext, use } from 'react';
import { may, type Permission } from './permissions.ts';

export type Role = 'owner' | 'admin' | 'member' | 'viewer';

export interface ProjectOfMine {
  id: string;
  name: string;
  role: Role;
}

/** Who is signed in, and where they may go. */
export interface SignedIn {
  me: { id: string; name: string; email: string; twoFactorEnabled: boolean };
  projects: ProjectOfMine[];
  /** Reads both again, after one has changed. */
  reload: () => Promise<void>;
}

export const SessionContext = createContext<SignedIn | null>(null);

/** The signed-in person; pages are only shown to one. */
export function useSession(): SignedIn {
  const session = use(SessionContext);
  if (session === null) throw new Error('This page needs somebody who is signed in.');
  return session;
}

/** The project that the address names, and the person's role in it. */
export function useProject(): ProjectOfMine {
  const { projectId } = useParams({ from: '/auth/p/$projectId' });
  const project = useSession().projects.find(({ id }) => id === projectId);
  if (project === undefined) throw new Error('This page belongs to a project.');
  return project;
}

/** Asks whether the person may do something in this project; what they may not, they are not offered. */
export function useMay(): (permission: Permission) => boolean {
  const { role } = useProject();
  return (permission) => may(role, permission);
}
