import { sweep } from '../../e2e/support/environments.ts';
import { operate } from '../../e2e/support/operator.ts';
import { platform } from '../../e2e/support/world.ts';

/** Does now what version control has put off for minutes, because a forge was down: only an operator can. */
export const bringForward = async (): Promise<void> => {
  operate(platform);
  const { dueShard, dueShards } = await import('../../../functions/store/due.ts');
  const { query, update } = await import('../../../functions/store/table.ts');
  for (let n = 0; n < dueShards; n++) {
    const items = await query<{ pk: string; sk: string }>({ pk: dueShard(n), index: 'due', limit: 1000 });
    for (const { pk, sk } of items.filter(({ sk }) => ['REPO', 'OC', 'OT'].includes(sk))) {
      await update({ pk, sk }, { set: { dueAt: new Date().toISOString() }, condition: 'attribute_exists(dueAt)' });
    }
  }
  await sweep();
};
