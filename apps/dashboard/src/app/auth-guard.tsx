import { Button, Center, Loader, Stack, Text } from '@mantine/core';
import type { OperationResult } from '@urql/core';
import { Navigate, Outlet } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { clientFor, setRefusalHandlers } from '../data/client.ts';
import { NOT_RESPONDING, problemOf, RESPONSE_TIMEOUT_MS } from '../data/problem.ts';
import { refresh } from '../data/refresh.ts';
import { discardUnsavedChanges, hasUnsavedChanges, useNavigationGuard } from '../data/unsaved-changes.ts';
import { graphql } from '../generated/gql.ts';
import type { MeQuery } from '../generated/graphql.ts';
import { SessionContext, type SignedIn } from './session.tsx';
import type { Ended } from './session-ended-dialog.tsx';
import { SessionEnded } from './session-ended.tsx';

const ME = graphql(`
  query Me {
    me {
      id
      name
      email
      twoFactorEnabled
    }
    myProjects {
      role
      project {
        id
        name
      }
    }
  }
`);

type State =
  | { kind: 'loading' }
  | { kind: 'out'; from: string }
  | { kind: 'failed'; message: string }
  /**
   * While there are unsaved changes, the page of a session or of an access that has ended stays. Once the user has closed the dialog that
   * says so, only a change that is refused opens it: the page's own reads may still be under way, and go on.
   */
  | { kind: 'in'; session: Omit<SignedIn, 'reload'>; ended?: Ended; isDialogClosed?: boolean };

/** Loads the session once, then renders the pages or redirects to the sign-in page. */
export function AuthGuard() {
  const [state, setState] = useState<State>({ kind: 'loading' });
  const userId = useRef<string>(undefined);
  useNavigationGuard();
  // Drops what the page, its forms and the caches have, as when someone else has signed in, in another tab.
  const startOver = useCallback(() => {
    discardUnsavedChanges();
    setState({ kind: 'loading' });
    window.location.reload();
  }, []);
  const reload = useCallback(
    async (isChange = true) => {
      const next = await load();
      if (next.kind === 'in') {
        const { id } = next.session.me;
        if (userId.current !== undefined && userId.current !== id) return startOver();
        userId.current = id;
      }
      setState((state) => afterReload(state, next, isChange));
    },
    [startOver],
  );
  const again = () => {
    setState({ kind: 'loading' });
    void reload();
  };
  useEffect(() => {
    setRefusalHandlers({
      unauthorized: (isChange) => setState((state) => endSession(state, isChange)),
      // The user may have been removed from the project, or have another role in it.
      forbidden: (isChange) => void reload(isChange),
    });
    void reload();
  }, [reload]);
  const discard = () => {
    if (state.kind === 'in' && state.ended === 'session') setState(stayOut());
    else startOver();
  };
  const session = useMemo(() => (state.kind === 'in' ? { ...state.session, reload } : undefined), [state, reload]);

  if (state.kind === 'out') return <Navigate to="/sign-in" search={{ to: state.from }} ignoreBlocker />;
  if (state.kind === 'failed') return <Failed message={state.message} onAgain={again} />;
  if (state.kind === 'loading' || session === undefined) return <Waiting />;
  return (
    <SessionContext value={session}>
      <Outlet />
      <SessionEnded
        opened={state.ended !== undefined}
        ended={state.ended}
        onClose={() => setState({ kind: 'in', session: state.session, isDialogClosed: true })}
        onReload={() => void reload().then(refresh)}
        onDiscard={discard}
      />
    </SessionContext>
  );
}

/** Loads the session; gives up on a server that does not respond, so that a retry is a new request. */
function load(): Promise<State> {
  return new Promise((resolve) => {
    const late = setTimeout(() => {
      request.unsubscribe();
      resolve({ kind: 'failed', message: NOT_RESPONDING.message });
    }, RESPONSE_TIMEOUT_MS);
    const request = clientFor('')
      .query(ME, {}, { requestPolicy: 'network-only' })
      .subscribe((result) => {
        // A reload first gets the last result again.
        if (result.stale) return;
        clearTimeout(late);
        resolve(stateOf(result));
        request.unsubscribe();
      });
  });
}

function stateOf(result: OperationResult<MeQuery>): State {
  const { data, error } = result;
  if (data != null) {
    const projects = data.myProjects.map(({ role, project }) => ({ ...project, role }));
    return { kind: 'in', session: { me: data.me, projects } };
  }
  if (error?.graphQLErrors.some((each) => each.extensions.code === 'unauthorized') === true) return stayOut();
  return { kind: 'failed', message: problemOf(result)?.message ?? 'The server did not respond.' };
}

/** Reads the return path once: while the sign-in page loads, the URL is already its own. */
const stayOut = (state?: State): State =>
  state?.kind === 'out' ? state : { kind: 'out', from: window.location.pathname + window.location.search };

/** Redirects to the sign-in page, unless the page has unsaved changes. */
const endSession = (state: State, isChange: boolean): State =>
  state.kind === 'in' && hasUnsavedChanges() ? withDialog(state, 'session', isChange) : stayOut(state);

const withDialog = (state: State & { kind: 'in' }, ended: Ended, isChange: boolean): State =>
  state.isDialogClosed === true && !isChange ? state : { ...state, ended };

function afterReload(state: State, next: State, isChange: boolean): State {
  if (next.kind === 'out') return endSession(state, isChange);
  if (state.kind !== 'in') return next;
  // A session that is known stays when its reload fails.
  if (next.kind !== 'in') return state;
  const isOther = roleOnPage(next.session) !== roleOnPage(state.session);
  return isOther && hasUnsavedChanges() ? withDialog(state, 'access', isChange) : next;
}

/** The user's role in the project of the page. */
function roleOnPage({ projects }: Omit<SignedIn, 'reload'>) {
  const [, , projectId] = window.location.pathname.split('/');
  return projects.find(({ id }) => id === projectId)?.role;
}

function Waiting() {
  return (
    <Center mih="100vh" role="status">
      <Loader aria-label="Loading" />
    </Center>
  );
}

function Failed({ message, onAgain }: { message: string; onAgain: () => void }) {
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack align="center">
        <Text role="alert">{message}</Text>
        <Button onClick={onAgain}>Try again</Button>
      </Stack>
    </Center>
  );
}
