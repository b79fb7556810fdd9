import type { UserProfile } from '@postroom/projects/cells';
import { acceptFromOtherCell, findByHash } from './invitations.ts';
import { membershipsOf } from './other-cells.ts';
import { receiveProfile } from './profiles.ts';

/**
 * Answers another cell, which has authenticated its question: the projects of a user, an invitation by the hash of its token, or that a
 * person accepts one. @returns undefined if this cell has nothing of it.
 */
export async function answerOtherCell(kind: string, name: string, person: UserProfile | undefined): Promise<unknown> {
  if (kind === 'user') {
    if (person?.id === name) await receiveProfile(person);
    return membershipsOf(name);
  }
  if (kind === 'join') return person === undefined ? undefined : acceptFromOtherCell(name, person);
  if (kind !== 'invitation') return undefined;
  const found = await findByHash(name);
  return found === undefined ? undefined : { email: found.email, projectName: found.projectName };
}
