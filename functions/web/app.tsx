import { useEffect } from 'preact/hooks';
import { hrefOf, place } from './location.ts';
import { Notice } from './parts/basics.tsx';
import { Shell } from './parts/shell.tsx';
import type { Place } from './places.ts';
import { account, get, signedIn } from './session.ts';
import { NewOrganization } from './views/new-organization.tsx';
import { Organizations } from './views/organizations.tsx';
import { Queue } from './views/queue.tsx';
import { RunView } from './views/run.tsx';
import { SignIn } from './views/sign-in.tsx';
import { StateView } from './views/state.tsx';
import { Tokens } from './views/tokens.tsx';
import { VariableSetView } from './views/variable-set.tsx';
import { VariableSets } from './views/variable-sets.tsx';
import { WorkspaceView } from './views/workspace.tsx';
import { Workspaces } from './views/workspaces.tsx';

export const App = () => {
  const authenticated = signedIn.value;
  useEffect(() => {
    if (!authenticated || account.peek()) return;
    get('/account/details').then(
      (details) => {
        account.value = details;
      },
      // A dead token has signed out by itself; for anything else the views say so.
      () => {},
    );
  }, [authenticated]);
  return authenticated ? <View at={place.value} /> : <SignIn />;
};

const View = ({ at }: { at: Place }) => {
  switch (at.view) {
    case 'home':
      return <Organizations />;
    case 'new-organization':
      return <NewOrganization />;
    case 'tokens':
      return <Tokens />;
    case 'queue':
      return <Queue key={at.organization} organization={at.organization} />;
    case 'variable-sets':
      return <VariableSets key={at.organization} organization={at.organization} />;
    case 'variable-set':
      return <VariableSetView key={at.set} organization={at.organization} id={at.set} />;
    case 'state':
      return <StateView key={at.version} {...at} />;
    case 'workspaces':
      return <Workspaces key={at.organization} organization={at.organization} />;
    case 'workspace':
      return <WorkspaceView key={`${at.organization}/${at.workspace}`} {...at} />;
    case 'run':
      return <RunView key={at.run} id={at.run} organization={at.organization} />;
    default:
      return (
        <Shell title="Not found" crumbs={[]}>
          <h1>There is nothing at this address</h1>
          <Notice kind="warn">
            It may have been mistyped. <a href={hrefOf({ view: 'home' })}>See your organizations</a>.
          </Notice>
        </Shell>
      );
  }
};
