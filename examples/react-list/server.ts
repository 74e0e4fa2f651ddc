// Serves the page and its data. The key stays here: whoever opens a page can read all that is in it.
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { failed, Remit } from '@remit/sdk'
import { build } from 'esbuild'
import { Hono } from 'hono'

const remit = new Remit()

const { outputFiles } = await build({
	entryPoints: [join(import.meta.dirname, 'page.tsx')],
	bundle: true,
	minify: true,
	write: false,
	jsx: 'automatic',
	define: { 'process.env.NODE_ENV': '"production"' },
})
const script = outputFiles[0]?.text ?? ''

const app = new Hono()
app.get('/', (context) =>
	context.html(
		'<!doctype html><html lang="en"><title>Invoices</title><main id="page"></main><script src="/page.js"></script></html>',
	),
)
app.get('/page.js', (context) => context.body(script, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }))

/** A page of what the browser shows, and no more. Your own check of who is asking comes first. */
app.get('/invoices', async (context) => {
	const offset = Number(context.req.query('offset') ?? 0)
	const page = await remit.invoices.list({ limit: 20, offset, fields: 'summary', expand: ['company'] })
	const invoices = page.data.map(({ id, invoiceNumber, status, totalCents, currency, company }) => {
		return { id, invoiceNumber, status, totalCents, currency, company: company?.name ?? '' }
	})
	return context.json({ invoices, hasMore: page.hasNextPage })
})
app.onError((error, context) => {
	console.error(error)
	return failed<'invoices.list'>(error) && error.status === 400 ? context.text('bad offset', 400) : context.text('failed', 502)
})
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 4000) }, ({ port }) => console.log(`http://127.0.0.1:${port}`))
