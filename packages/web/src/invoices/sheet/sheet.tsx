import type { DocumentLogo, InvoiceDocument } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import type { CSSProperties } from 'react'
import { failureOf } from '../../api/pages.ts'
import { read } from '../../api/query.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Annex } from './annex.tsx'
import { Lines } from './lines.tsx'
import './sheet.css'

/** The invoice as its client sees it: the server has the words, as it has those of the PDF. */
export function Sheet({ id }: { id: string }) {
	const query = useQuery(read('invoices.document', id))
	return (
		<Loaded data={query.data} failure={failureOf(query)} rows={16}>
			{(document) => <Paper document={document} />}
		</Loaded>
	)
}

function Paper({ document }: { document: InvoiceDocument }) {
	const { number, language, labels, brand, title, seller, buyer, facts, lines, totals, passages, rates, timesheet, footer } =
		document
	const accent = brand?.accentColor
	return (
		<article
			className="card sheet"
			aria-label={`${number} as the client sees it`}
			lang={language}
			style={accent ? ({ '--sheet-accent': accent } as CSSProperties) : undefined}
		>
			<header className="sheet-head">
				<div className="sheet-party">
					{brand?.logo && <Logo logo={brand.logo} />}
					<PartyLines lines={seller} />
				</div>
				<div className="sheet-title">
					<h2>{title}</h2>
					<p>{number}</p>
				</div>
				<div className="sheet-party">
					<h3>{labels.billedTo}</h3>
					{buyer.length > 0 ? <PartyLines lines={buyer} /> : <Missing>No client yet</Missing>}
				</div>
				<dl className="sheet-facts">
					{facts.map(({ label, value }) => (
						<div key={label}>
							<dt>{label}</dt>
							<dd>{value}</dd>
						</div>
					))}
				</dl>
			</header>
			{lines.length > 0 ? <Lines document={document} /> : <Missing>No lines yet</Missing>}
			<dl className="sheet-totals">
				{totals.map(({ label, value, kind }) => (
					<div key={label} className={kind}>
						<dt>{label}</dt>
						<dd>{value}</dd>
					</div>
				))}
			</dl>
			{passages.map((passage) => (
				<section key={passage.title} className="sheet-words">
					<h3>{passage.title}</h3>
					<p>{passage.text}</p>
				</section>
			))}
			{rates && <Annex table={rates} />}
			{timesheet && <Annex table={timesheet} />}
			{footer && <p className="sheet-foot">{footer}</p>}
		</article>
	)
}

/** What the client would not see, for whoever writes the invoice. */
const Missing = ({ children }: { children: string }) => (
	<p className="sheet-missing" lang="en">
		{children}
	</p>
)

const logoBox = { width: 240, height: 64 }

function Logo({ logo: { format, width, height, data } }: { logo: DocumentLogo }) {
	const scale = Math.min(logoBox.width / width, logoBox.height / height)
	const source = `data:image/${format === 'svg' ? 'svg+xml' : format};base64,${data}`
	return <img className="sheet-logo" src={source} width={Math.round(width * scale)} height={Math.round(height * scale)} alt="" />
}

const PartyLines = ({ lines: [name, ...rest] }: { lines: readonly string[] }) => (
	<address>
		<strong>{name}</strong>
		{rest.map((line) => (
			<span key={line}>{line}</span>
		))}
	</address>
)
