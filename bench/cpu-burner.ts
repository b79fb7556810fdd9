/**
 * Uses all of one core and nothing else until it is killed: the control of bench/neighbour.ts. It works in slices, so that it
 * notices when its parent has exited.
 */
const SLICE_MS = 50;

function burn(): void {
  for (const endsAt = performance.now() + SLICE_MS; performance.now() < endsAt;);
  setImmediate(burn);
}

process.on('message', burn);
process.on('disconnect', () => process.exit(0));
process.send?.({});
