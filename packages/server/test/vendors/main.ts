// Starts the fake of one vendor as a process of its own: `node main.ts hubspot` prints one line of JSON with its URL and runs until it is stopped.
import { FakeHubSpot } from './hubspot.ts'
import { FakeStripe } from './stripe.ts'
import type { Vendor } from './vendor.ts'
import { FakeXero } from './xero.ts'

const vendors: Record<string, () => Vendor> = {
	hubspot: () => new FakeHubSpot(),
	xero: () => new FakeXero(),
	stripe: () => new FakeStripe(),
}

const [name = ''] = process.argv.slice(2)
const make = vendors[name]
if (!make) throw new Error(`There is no vendor ${name}; there are ${Object.keys(vendors).join(', ')}`)
const vendor = await make().start()
process.stdout.write(`${JSON.stringify({ url: vendor.url, token: vendor.token, settings: vendor.settings })}\n`)
process.once('SIGTERM', () => process.exit())
// The process that started this one is gone.
process.once('disconnect', () => process.exit())
