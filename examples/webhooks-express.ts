// A receiver of webhooks with Express. It needs the body as it arrived: no express.json() before this route.
import type { WebhookEvent } from '@remit/sdk'
import { verifyWebhook, WebhookVerificationError } from '@remit/sdk/webhooks'
import express from 'express'

const secret = process.env.REMIT_WEBHOOK_SECRET ?? ''
const seen = new Set<string>() // yours is a table with a unique key: an event can arrive more than once

const app = express()
app.post('/remit', express.raw({ type: 'application/json' }), async (request, response) => {
	let event: WebhookEvent
	try {
		event = await verifyWebhook(request.body, request.headers, secret)
	} catch (error) {
		if (!(error instanceof WebhookVerificationError)) throw error
		return response.status(400).send(error.code)
	}
	if (!seen.has(event.id)) {
		seen.add(event.id)
		if (event.type === 'invoice.paid') console.log(`${event.data.invoiceNumber} was paid: ${event.data.totalCents}`)
	}
	return response.sendStatus(204)
})
app.listen(Number(process.env.PORT ?? 4000), () => console.log('ready'))
