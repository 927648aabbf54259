import { Dialog } from './dialog.tsx';

const rows: [keys: string[], what: string][] = [
  [['Ctrl', 'K'], 'Go to a page, a workspace or a run'],
  [['/'], 'Search the current page'],
  [['j'], 'Next entry of a list'],
  [['k'], 'Previous entry of a list'],
  [['Enter'], 'Open the entry'],
  [['?'], 'Show these keys'],
];

export const KeyHelp = ({ onClose }: { onClose(): void }) => (
  <Dialog title="Keys" onClose={onClose}>
    <dl class="facts">
      {rows.map(([keys, what]) => (
        <>
          <dt>
            {keys.map((key) => (
              <>
                <kbd>{key}</kbd>{' '}
              </>
            ))}
          </dt>
          <dd>{what}</dd>
        </>
      ))}
    </dl>
    <div class="row ends">
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  </Dialog>
);
