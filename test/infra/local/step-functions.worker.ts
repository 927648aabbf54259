/** A process with a service on the folder in its arguments, to be killed: prints its responses and tokens. */
import { StepFunctionsService } from '#infra/local/aws/step-functions/service.ts';
import { Database } from '#infra/local/host/database.ts';
import { machine, machineArn, waiting } from './step-functions.machines.ts';

export const definition = machine({
  One: waiting('One', { ResultPath: '$.one', Next: 'Two' }),
  Two: waiting('Two', { ResultPath: '$.two', End: true }),
});

const say = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);

const work = async (dataDir: string): Promise<void> => {
  const service = new StepFunctionsService({
    dataDir,
    database: Database.open(dataDir),
    accountId: '000000000000',
    region: 'us-east-1',
    invoke: async (_, payload, { executionName: name, stateName }) => {
      const { token } = payload as { token: string };
      say({ called: stateName, name, token });
      if (stateName !== 'One') return;
      await new Promise((resolve) => setImmediate(resolve));
      await service.handle('SendTaskSuccess', { taskToken: token, output: '1' });
      say({ succeeded: name, token });
    },
    onStatusChange() {},
  });
  service.createStateMachine(machineArn, definition);
  for (let run = 0; ; run++) {
    const name = `run-${run}`;
    await service.handle('StartExecution', { stateMachineArn: machineArn, name });
    say({ started: name });
    if (run % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
};

if (import.meta.main) await work(process.argv[2]!);
