// A receiver of webhooks with Hono. `app.fetch` runs as it is on Bun, Deno and Cloudflare Workers; here Node serves it.
import { serve } from '@hono/node-server'
import { verifyWebhook, WebhookVerificationError } from '@remit/sdk/webhooks'
import { Hono } from 'hono'

const secret = process.env.REMIT_WEBHOOK_SECRET ?? ''
const seen = new Set<string>() // yours is a table with a unique key: an event can arrive more than once

const app = new Hono()
app.onError((error, context) => {
	if (error instanceof WebhookVerificationError) return context.text(error.code, 400)
	console.error(error)
	return context.text('failed', 500) // Remit sends the event again
})
app.post('/remit', async (context) => {
	const event = await verifyWebhook(await context.req.arrayBuffer(), context.req.raw.headers, secret)
	if (!seen.has(event.id)) {
		seen.add(event.id)
		if (event.type === 'invoice.paid') console.log(`${event.data.invoiceNumber} was paid: ${event.data.totalCents}`)
	}
	return context.body(null, 204)
})
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 4000) }, () => console.log('ready'))
