import { Button, Center, Loader, Stack, Text } from '@mantine/core';
import { Navigate, Outlet } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { clientFor, whenSignedOut } from '../data/client.ts';
import { problemOf } from '../data/problem.ts';
import { graphql } from '../generated/gql.ts';
import { SessionContext, type SignedIn } from './session.tsx';

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
  | { kind: 'in'; session: Omit<SignedIn, 'reload'> };

/** Loads the session once, then renders the pages or redirects to the sign-in page. */
export function AuthGuard() {
  const [state, setState] = useState<State>({ kind: 'loading' });
  const reload = useCallback(async () => {
    const next = await load();
    setState((state) => (next.kind === 'out' ? stayOut(state) : next));
  }, []);
  useEffect(() => {
    whenSignedOut(() => setState(stayOut));
    void reload();
  }, [reload]);
  const session = useMemo(() => (state.kind === 'in' ? { ...state.session, reload } : undefined), [state, reload]);

  if (state.kind === 'out') return <Navigate to="/sign-in" search={{ to: state.from }} />;
  if (state.kind === 'failed') return <Failed message={state.message} onAgain={() => void reload()} />;
  if (session === undefined) return <Waiting />;
  return (
    <SessionContext value={session}>
      <Outlet />
    </SessionContext>
  );
}

async function load(): Promise<State> {
  const { data, error } = await clientFor('').query(ME, {}, { requestPolicy: 'network-only' }).toPromise();
  if (data != null) {
    const projects = data.myProjects.map(({ role, project }) => ({ ...project, role }));
    return { kind: 'in', session: { me: data.me, projects } };
  }
  if (error?.graphQLErrors.some((each) => each.extensions.code === 'unauthorized') === true) return stayOut();
  return { kind: 'failed', message: error === undefined ? 'The server did not respond.' : problemOf(error).message };
}

/** Reads the return path once: while the sign-in page loads, the URL is already its own. */
const stayOut = (state?: State): State =>
  state?.kind === 'out' ? state : { kind: 'out', from: window.location.pathname + window.location.search };

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
        <Text>{message}</Text>
        <Button onClick={onAgain}>Try again</Button>
      </Stack>
    </Center>
  );
}
