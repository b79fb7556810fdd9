// Serves pixels and links like a gateway, with the keys from its environment (see rotation.system.test.ts).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTracking } from '../src/tracking-requests.ts';

const tracking = startTracking();
const server = createServer((request, response) => void tracking.answer(request, response));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => void tracking.stop().finally(() => process.exit(0))); // exit with the test
