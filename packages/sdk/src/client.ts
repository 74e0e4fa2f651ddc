import { Resources } from './generated/resources.ts'
import type { RemitOptions } from './settings.ts'
import { Transport } from './transport.ts'

/**
 * A client of the Remit API for one organization. It keeps only its settings, so one client serves a whole program.
 *
 * @example
 * ```ts
 * const remit = new Remit({ apiKey: 'rmt_…', baseUrl: 'https://remit.example' })
 * const { id } = await remit.invoices.create({ currency: 'EUR' })
 * ```
 */
export class Remit extends Resources {
	constructor(options: RemitOptions = {}) {
		super(new Transport(options))
	}
}
