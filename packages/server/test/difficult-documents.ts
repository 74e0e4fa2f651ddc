// Invoices that are hard to show: other scripts, long words, many lines, and text that looks like markup.
import type { InvoiceDocument } from '../src/generated/contract.ts'
import { openInvoice, passages } from './documents.ts'

const plain: InvoiceDocument = { ...openInvoice, passages: [], rates: null, timesheet: null }

const egyptianPounds = (digits: string) => `\u200f${digits}\u00a0ج.م.\u200f`

export const arabicInvoice: InvoiceDocument = {
	...plain,
	locale: 'ar-EG',
	seller: ['استوديو النيل للتصميم', '١٢ شارع طلعت حرب', 'القاهرة', 'مصر'],
	buyer: ['شركة المدينة Logistics', 'الإسكندرية'],
	facts: [
		{ label: 'Issued', value: '١٥\u200f/١١\u200f/٢٠٢٦' },
		{ label: 'Due', value: '١٥\u200f/١٢\u200f/٢٠٢٦' },
	],
	lines: [
		line('تصميم واجهة المستخدم (UX)\nالمرحلة الأولى', '٣٫٥ day', egyptianPounds('٣٬٥٠٠٫٠٠'), egyptianPounds('١٢٬٢٥٠٫٠٠')),
		line('الإشراف على التنفيذ', '١', egyptianPounds('١٬٧٥٠٫٠٠'), egyptianPounds('١٬٧٥٠٫٠٠')),
	],
	totals: [
		{ label: 'Subtotal', value: egyptianPounds('١٤٬٠٠٠٫٠٠'), kind: 'plain' },
		{ label: `ضريبة القيمة المضافة ١٤٪ on ${egyptianPounds('١٤٬٠٠٠٫٠٠')}`, value: egyptianPounds('١٬٩٦٠٫٠٠'), kind: 'plain' },
		{ label: 'Total', value: egyptianPounds('١٥٬٩٦٠٫٠٠'), kind: 'total' },
		{ label: 'Amount due', value: egyptianPounds('١٥٬٩٦٠٫٠٠'), kind: 'due' },
	],
	due: egyptianPounds('١٥٬٩٦٠٫٠٠'),
	passages: passages({ notes: 'شكرًا لتعاملكم معنا.\nملفات التصميم في المجلد المشترك.' }),
}

export const japaneseInvoice: InvoiceDocument = {
	...plain,
	locale: 'ja-JP',
	number: '請求書-2026-11',
	seller: ['株式会社北光デザイン', '〒150-0001 東京都渋谷区神宮前1-2-3', '登録番号 T1234567890123'],
	buyer: ['山田商事株式会社 御中', '大阪府大阪市北区梅田4-5-6'],
	facts: [
		{ label: 'Issued', value: '2026/11/15' },
		{ label: 'Due', value: '2026/12/15' },
	],
	lines: [
		line('ウェブサイトの設計および情報構造の見直しに関するコンサルティング業務一式', '2 日', '￥80,000', '￥160,000'),
		line('アクセシビリティ監査', '1', '￥104,000', '￥104,000'),
	],
	totals: [
		{ label: 'Subtotal', value: '￥264,000', kind: 'plain' },
		{ label: '消費税 10% on ￥264,000', value: '￥26,400', kind: 'plain' },
		{ label: 'Total', value: '￥290,400', kind: 'total' },
		{ label: 'Amount due', value: '￥290,400', kind: 'due' },
	],
	due: '￥290,400',
	passages: passages({ terms: '請求書受領後30日以内にお支払いください。' }),
}

const markup = `"><script>alert('x')</script><b>&amp; & 'quoted' \`\${1}\` <!-- </title></style>`
const word = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(3)
const huge = 'BRL -99,999,999,999,999.99'

/** Five hundred lines, and every text of the invoice holds markup and very long words. */
export const hostileInvoice: InvoiceDocument = {
	...openInvoice,
	number: `INV-${markup}`,
	status: { key: 'overdue', label: markup },
	seller: [`${markup} ${word}`, word],
	buyer: [`${word} ${markup}`, markup],
	facts: [
		{ label: 'Due', value: markup },
		{ label: word, value: word },
	],
	columns: { discount: true, tax: true },
	lines: Array.from({ length: 500 }, (_, index) => ({
		description: index % 100 === 0 ? `${index} ${word}\n${markup}` : `Position ${index}`,
		quantity: index % 50 === 0 ? `99,999,999.999 ${word}` : '1.5 day',
		unitPrice: index % 2 === 0 ? huge : '€1.00',
		discount: '100%',
		tax: index % 50 === 0 ? `${word} ${markup}` : 'VAT 19%',
		amount: index % 2 === 0 ? huge : '€1.00',
	})),
	totals: [
		{ label: word, value: huge, kind: 'plain' },
		{ label: markup, value: huge, kind: 'total' },
		{ label: 'Amount due', value: huge, kind: 'due' },
	],
	due: huge,
	passages: passages({ notes: `${markup}\n${word}`, terms: markup }),
	footer: `${markup}\n${word}`,
	rates: {
		title: markup,
		columns: ['Rate', 'Hours', markup].map((label) => ({ label, numeric: true })),
		rows: [[huge, huge, markup]],
		sum: [word, huge, huge],
	},
	timesheet: {
		title: 'Timesheet',
		columns: ['Date', 'Deliverable', 'Task', 'Description', 'Hours'].map((label) => ({ label, numeric: label === 'Hours' })),
		rows: [['2026-11-15', word, markup, `${word}\n${markup}`, '99,999,999.99']],
		sum: ['Total', '', '', '', '99,999,999.99'],
	},
}

function line(description: string, quantity: string, unitPrice: string, amount: string): InvoiceDocument['lines'][number] {
	return { description, quantity, unitPrice, discount: '', tax: '', amount }
}
