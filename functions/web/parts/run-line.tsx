import type { ComponentChildren } from 'preact';
import type { Resource } from '../../client/client.ts';
import { hrefOf } from '../location.ts';
import { related } from '../session.ts';
import { Ago } from './basics.tsx';
import { Person } from './person.tsx';
import { kindOf, Status, since } from './status.tsx';

/** A run in a list. */
export const RunLine = ({
  run,
  organization,
  workspace,
  showWorkspace = false,
  note,
}: {
  run: Resource<'runs'>;
  organization: string;
  workspace: string;
  showWorkspace?: boolean;
  note?: ComponentChildren;
}) => {
  const kind = kindOf(run);
  return (
    <li>
      <a class="item" href={hrefOf({ view: 'run', organization, workspace, run: run.id })}>
        <span class="row">
          <span class="title">{run.attributes.message}</span>
          {kind && <span class="tag">{kind}</span>}
        </span>
        <span class="meta">
          {showWorkspace && (
            <>
              <strong>{workspace}</strong>
              {' · '}
            </>
          )}
          <span class="mono">{run.id}</span> by <Person id={related(run, 'created-by')} />
          {note && <> · {note}</>}
        </span>
        <span class="end">
          <Status run={run} />
          <span class="meta">
            <Ago at={since(run)} />
          </span>
        </span>
      </a>
    </li>
  );
};
