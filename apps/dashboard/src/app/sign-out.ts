import { notifyError } from '../components/notify.tsx';
import { postAuth } from '../data/auth.ts';
import { clearClients } from '../data/client.ts';

/** Ends the session, and leads to the sign-in page. */
export async function signOut(): Promise<void> {
  const { problem } = await postAuth('/sign-out');
  // Leaving would look as if the session had ended.
  if (problem !== undefined) return notifyError(`You may still be signed in. ${problem}`);
  clearClients();
  window.location.assign('/sign-in');
}
