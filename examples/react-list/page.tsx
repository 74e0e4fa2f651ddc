// A list of invoices that grows by a page each time that somebody asks for more.
import { useCallback, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

interface Invoice {
	id: string
	invoiceNumber: string
	status: string
	totalCents: number
	currency: string
	company: string
}

interface Page {
	invoices: Invoice[]
	hasMore: boolean
}

async function load(offset: number): Promise<Page> {
	const answer = await fetch(`/invoices?offset=${offset}`)
	if (!answer.ok) throw new Error(`${answer.status}`)
	return (await answer.json()) as Page
}

/** Amounts are in the minor unit of their currency: cents of EUR, and whole yen. */
function money({ totalCents, currency }: Invoice): string {
	const format = new Intl.NumberFormat('en', { style: 'currency', currency })
	return format.format(totalCents / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
}

function Invoices() {
	const [invoices, setInvoices] = useState<Invoice[]>([])
	const [hasMore, setHasMore] = useState(false)
	const [state, setState] = useState<'loading' | 'ready' | 'failed'>('loading')

	const more = useCallback((offset: number) => {
		setState('loading')
		load(offset).then(
			(page) => {
				setInvoices((shown) => [...shown.slice(0, offset), ...page.invoices])
				setHasMore(page.hasMore)
				setState('ready')
			},
			() => setState('failed'),
		)
	}, [])
	useEffect(() => more(0), [more])

	return (
		<>
			<h1>Invoices</h1>
			<table>
				<tbody>
					{invoices.map((invoice) => (
						<tr key={invoice.id}>
							<td>{invoice.invoiceNumber}</td>
							<td>{invoice.company}</td>
							<td>{invoice.status}</td>
							<td>{money(invoice)}</td>
						</tr>
					))}
				</tbody>
			</table>
			{state === 'loading' && <p role="status">Loading…</p>}
			{state === 'failed' && (
				<p role="alert">
					The invoices could not be loaded.{' '}
					<button type="button" onClick={() => more(invoices.length)}>
						Try again
					</button>
				</p>
			)}
			{state === 'ready' && hasMore && (
				<button type="button" onClick={() => more(invoices.length)}>
					More
				</button>
			)}
		</>
	)
}

const place = document.getElementById('page')
if (place) createRoot(place).render(<Invoices />)
