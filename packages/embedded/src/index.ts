export { StartError } from './errors.ts';
export { followLog, lastLines, logSize } from './logs.ts';
export { answers, checkPorts, freePorts, HOST, isFree } from './ports.ts';
export { SHARED_FOLDER } from './postgres-binaries.ts';
export { startPostgres } from './postgres.ts';
export { isRunning, type ProcessId, processId, signal, waitForEnd } from './processes.ts';
export { COMPILED, exitText, type Program, run, type Start, startNode } from './programs.ts';
export { temporalBinary } from './temporal-binary.ts';
export { startTemporal } from './temporal.ts';
