export const machineArn = 'arn:aws:states:us-east-1:000000000000:stateMachine:Runs';
export const executionArn = (name: string) => `arn:aws:states:us-east-1:000000000000:execution:Runs:${name}`;

const invoke = 'arn:aws:states:::lambda:invoke';
const fn = (name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${name}`;

/** A state that calls a function and uses its result. */
export const task = (name: string, more: object = { End: true }) => ({
  Type: 'Task',
  Resource: invoke,
  Parameters: { FunctionName: fn(name), Payload: { 'input.$': '$' } },
  ResultSelector: { 'answer.$': '$.Payload' },
  ...more,
});

/** A state that passes its token to a function and waits. */
export const waiting = (name: string, more: object = { End: true }) => ({
  Type: 'Task',
  Resource: `${invoke}.waitForTaskToken`,
  Parameters: {
    FunctionName: fn(name),
    Payload: { 'token.$': '$$.Task.Token', 'retry.$': '$$.State.RetryCount', 'input.$': '$' },
  },
  ...more,
});

export const machine = (States: Record<string, object>, more: object = {}) => ({
  StartAt: Object.keys(States)[0],
  States,
  ...more,
});
