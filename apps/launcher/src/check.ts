// Checks what would keep `npm start` from starting, before the dashboard is built: the options, the data folder and the ports.
import { checkPorts, StartError } from '@postroom/embedded';
import { checkDataFolder, endLeftovers } from './data-folder.ts';
import { parseOptions, portsFrom } from './options.ts';
import { wantedPorts } from './wanted-ports.ts';

try {
  const { dataDir, portBase } = parseOptions(process.argv.slice(2));
  checkDataFolder(dataDir);
  // Until they have stopped, they hold the ports.
  await endLeftovers(dataDir, console.log);
  await checkPorts(wantedPorts(portsFrom(portBase)));
} catch (error) {
  console.error(error instanceof StartError ? `\n${error.message}` : error);
  process.exit(1);
}
