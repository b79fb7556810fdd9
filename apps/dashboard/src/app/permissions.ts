import type { Role } from './session.tsx';

/** What a role lets a person do: the rules of the server, which decides; this only spares people what would be refused. */
const PERMISSIONS = {
  owner: ['read', 'write', 'manage', 'own'],
  admin: ['read', 'write', 'manage'],
  member: ['read', 'write'],
  viewer: ['read'],
} as const satisfies Record<Role, readonly string[]>;

export type Permission = 'read' | 'write' | 'manage' | 'own';

export function may(role: Role, permission: Permission): boolean {
  return (PERMISSIONS[role] as readonly Permission[]).includes(permission);
}
