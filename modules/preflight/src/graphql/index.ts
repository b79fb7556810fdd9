import './preflight.ts';
import './test-send.ts';
