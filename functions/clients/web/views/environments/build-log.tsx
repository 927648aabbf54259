import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { timeOfDay } from '#clients/client/text/time.ts';
import { type Build, isBusy, read } from '#clients/web/environments.ts';
import { addStyle } from '#clients/web/lazily.tsx';
import { repeat } from '#clients/web/live.ts';
import environmentsStyle from '#clients/web/style/environments.css' with { type: 'text' };

addStyle(environmentsStyle);

interface Entry {
  id: number;
  created_at: string;
  log_level: string;
  stage: string;
  output: string;
}

const everyMs = 1_000;

/** Streams log entries, including the last ones of a finished build. */
const useEntries = ({ id, ...build }: Build): Entry[] => {
  const entries = useSignal<Entry[]>([]);
  const busy = useRef(true);
  busy.current = isBusy({ id, ...build });
  useEffect(() => {
    entries.value = [];
    const task = repeat(async () => {
      // Check for the end before reading the log, which then contains the last entries.
      const goesOn = busy.current;
      const after = entries.peek().at(-1)?.id;
      const more = await read<Entry[]>(`/workspacebuilds/${id}/logs${after === undefined ? '' : `?after=${after}`}`);
      if (more.length) entries.value = [...entries.peek(), ...more];
      return goesOn ? everyMs : undefined;
    });
    return task.stop;
  }, [id]);
  return entries.value;
};

const isShown = ({ output, log_level: level }: Entry): boolean => output !== '' && level !== 'trace';

/** Log of a build, by stage. */
export const BuildLog = ({ build }: { build: Build }) => {
  const entries = useEntries(build);
  const box = useRef<HTMLElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    if (follows.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [entries.length]);
  const stages = [...new Set(entries.map(({ stage }) => stage))];
  return (
    <section
      ref={box}
      class="build-log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard
      tabIndex={0}
      aria-label={`Log of build ${build.build_number}`}
      onScroll={({ currentTarget: at }) => {
        follows.current = at.scrollHeight - at.scrollTop - at.clientHeight < 40;
      }}
    >
      {stages.map((stage) => (
        <div key={stage}>
          <p class="step">{stage}</p>
          {entries
            .filter((entry) => entry.stage === stage && isShown(entry))
            .map(({ id, created_at: at, log_level: level, output }) => (
              <div key={id} class={`entry ${level}`}>
                <time dateTime={at}>{timeOfDay(at)}</time> {output}
              </div>
            ))}
        </div>
      ))}
      {entries.length === 0 && <p>Waiting for output …</p>}
    </section>
  );
};
