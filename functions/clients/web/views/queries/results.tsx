import { useSignal } from '@preact/signals';
import { count } from '#clients/client/text/time.ts';
import { Code } from '#clients/web/parts/basics.tsx';
import { Search } from '#clients/web/parts/filters.tsx';
import { LongList } from '#clients/web/parts/list.tsx';
import type { FoundResource } from '#clients/web/text/query-results.ts';

const isIn = ({ list, name, identity }: FoundResource, text: string): boolean =>
  `${list} ${name} ${identity.map(([, value]) => value).join(' ')}`.toLowerCase().includes(text);

/** Results of a query so far, with configuration to import each resource. */
export const QueryResults = ({ found, over }: { found: FoundResource[]; over: boolean }) => {
  const search = useSignal('');
  const text = search.value.trim().toLowerCase();
  const matching = text ? found.filter((result) => isIn(result, text)) : found;
  return (
    <div class="pad stack">
      <div class="row">
        <h2>
          <span role="status">{found.length || over ? count(found.length, 'resource') : 'Looking …'}</span>
        </h2>
        {found.length > 5 && <Search label="Search the results" text={search} />}
      </div>
      {found.length > 0 && matching.length === 0 && <p class="soft">No resources match the search.</p>}
      <LongList of={matching} choice={text} list={(rows) => <ul class="found">{rows}</ul>}>
        {(result) => <Found key={`${result.list} ${JSON.stringify(result.identity)}`} found={result} />}
      </LongList>
    </div>
  );
};

const Found = ({ found: { list, type, name, identity, configuration } }: { found: FoundResource }) => {
  const line = (
    <>
      <strong class="break">{name || type}</strong>{' '}
      <span class="soft small break">
        {list} · {identity.map(([key, value]) => `${key}: ${value}`).join(', ')}
      </span>
    </>
  );
  return (
    <li>
      {configuration ? (
        <details>
          <summary>{line}</summary>
          <Code label={`Configuration of ${name}`} text={configuration} />
        </details>
      ) : (
        line
      )}
    </li>
  );
};
