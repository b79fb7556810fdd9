import './endpoints.ts';
import './deliveries.ts';
import './attempts.ts';
