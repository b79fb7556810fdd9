/** The permissions of each role. The server enforces them; the UI only hides what it would reject. */
const PERMISSIONS = {
  owner: ['read', 'write', 'manage', 'own'],
  admin: ['read', 'write', 'manage'],
  member: ['read', 'write'],
  viewer: ['read'],
} as const satisfies Record<Role, readonly string[]>;

export type Permission = 'read' | 'write' | 'manage' | 'own';

export function hasPermission(role: Role, permission: Permission): boolean {
  return (PERMISSIONS[role] as readonly Permission[]).includes(permission);
}

export type Role = 'owner' | 'admin' | 'member' | 'viewer';
