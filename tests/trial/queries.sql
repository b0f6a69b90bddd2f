-- The trial's questions. A line "-- topic: title" begins each; trial.py asks all of them. ORDER BY is total where it is.

-- plain: rows
select count(*) from sales;
-- plain: revenue by country
select co.country, sum(paid) as revenue, count(*) as n from sales s join stores st on s.store = st.store_id
join countries co on st.located = co.code group by co.country order by revenue desc, 1;
-- plain: best products
select p.sku, p.title, sum(s.paid) as revenue from sales s join products p on s.product = p.sku
group by p.sku, p.title order by revenue desc, p.sku limit 10;
-- plain: rows of one buyer
select sale_id, sold_at, product, paid from sales where buyer = 17 + 1009 * 5 order by sold_at, sale_id limit 20;
-- plain: newest visits
select seen, session, url, status from visits order by seen desc, session, url limit 15;
-- plain: dearest sales
select sale_id, paid from sales order by paid desc, sale_id limit 25;
-- plain: revenue of a year by month
select extract(month from sold_at) as m, sum(paid) from sales
where sold_at >= timestamp '2022-01-01 00:00:00' and sold_at < timestamp '2023-01-01 00:00:00' group by m order by m;
-- plain: conversion of campaigns
select c.channel, count(*) as visits, count(distinct visitor) as people from visits v
left join campaigns c on v.source = c.campaign group by c.channel order by c.channel;
-- plain: errors by status
select status, count(*), avg(millis), max(millis) from visits where status >= 400 group by status order by status;
-- plain: NULL beside the empty string
select coupon, count(*), count(coupon) from sales group by coupon order by coupon;
-- plain: share of returns
select st.city, sum(case when returned then 1 else 0 end) as returned, count(*) as n,
sum(case when returned then 1 else 0 end) * 100.0 / count(*) as percent
from sales join stores st on store = st.store_id group by st.city order by percent desc, st.city;
-- plain: buyers without a mail
select count(*) from sales s left join customers c on s.buyer = c.customer_id where c.email is null;
-- plain: between and in
select product, quantity, paid from sales where product in ('a-0000', 'b-0007', 'nothing') and paid between 100 and 500.50
order by paid, sale_id limit 12;
-- plain: having
select product, count(*) as n from sales group by product having count(*) > 100 and sum(paid) > 1000 order by n desc, product;
-- plain: distinct pages of errors
select distinct status, agent from visits where status in (404, 500) order by status, agent nulls last;
-- plain: star of a dimension
select * from countries order by code;
-- plain: two dimensions, three conditions
select p.category, count(*), sum(paid) from sales s, products p, stores st where s.product = p.sku and s.store = st.store_id
and st.city = 'Berlin' and p.brand = 'Żubr' and s.quantity > 0 group by p.category order by p.category;
-- plain: a snowflake
select co.continent, p.category, sum(s.paid) from sales s join customers c on s.buyer = c.customer_id
join countries co on c.home = co.code join products p on s.product = p.sku group by 1, 2 order by 3 desc, 1, 2 limit 20;
-- plain: quoted names and comments
select s.city as "Stadt, groß", count(*) /* all */ as "n" from sales join stores s on store = s.store_id -- by city
group by s.city order by "n" desc, 1;
-- plain: offset
select customer_id, customer from customers order by customer_id limit 5 offset 7;

-- numbers: round of an average
select product, round(avg(paid), 2) as mean from sales group by product order by mean desc, product limit 10;
-- numbers: round of decimals
select round(sum(paid), 1), round(sum(paid)), round(min(price), -1) from sales;
-- numbers: buckets by floor
select floor(paid / 100) as bucket, count(*) from sales where paid > 0 group by bucket order by bucket limit 20;
-- numbers: ceil and trunc
select ceil(price), trunc(price), floor(-price), count(*) from sales where product = 'a-0000' group by 1, 2, 3 order by 1, 2, 3 limit 10;
-- numbers: mod
select mod(sale_id, 7) as day, count(*) from sales group by day order by day;
-- numbers: sqrt, power, exp, ln, log10
select sqrt(abs(paid)), power(quantity, 2), exp(quantity), ln(price), log10(price) from sales where sale_id < 1000030 order by sale_id;
-- numbers: sign
select sign(quantity) as s, sum(paid) from sales group by s order by s;
-- numbers: greatest and least
select greatest(price, paid) as g, least(quantity, 3) as l from sales order by sale_id limit 10;
-- numbers: sum of a greatest
select sum(greatest(paid, 0)), sum(least(quantity, 2)) from sales;
-- numbers: log scale of bytes
select cast(floor(log10(bytes)) as integer) as magnitude, count(*) from visits where bytes > 0 group by 1 order by 1;
-- numbers: % and whole division
select sum(quantity % 3), count(*) from sales where sale_id % 2 = 0;
-- numbers: round in where
select count(*) from sales where round(price) = 700;

-- dates: revenue by month
select date_trunc('month', sold_at) as month, sum(paid) as revenue from sales group by 1 order by 1;
-- dates: by week
select extract(year from sold_at) as y, extract(week from sold_at) as w, count(*) from sales group by 1, 2 order by 1, 2 limit 30;
-- dates: by iso year and week
select extract(isoyear from sold_at) as y, extract(week from sold_at) as w, sum(paid) from sales group by y, w order by y desc, w desc limit 10;
-- dates: weekdays
select extract(isodow from seen) as d, count(*), avg(millis) from visits group by d order by d;
-- dates: hours
select extract(hour from seen) as h, count(*) from visits group by h order by h;
-- dates: epoch
select extract(epoch from seen) as e, status from visits order by seen, session limit 5;
-- dates: quarter by date_trunc
select date_trunc('quarter', sold_at) as q, sum(quantity) from sales group by q order by q;
-- dates: date_trunc of a date
select date_trunc('year', signed_up) as y, count(*) from customers group by y order by y;
-- dates: age of products
select date_diff('day', launched, withdrawn) as days, count(*) from products where withdrawn is not null group by 1 order by 1 limit 10;
-- dates: months of membership
select date_diff('month', c.signed_up, date '2024-01-01') as months, sum(paid) from sales join customers c on buyer = c.customer_id
group by months order by months limit 10;
-- dates: last_day
select last_day(starts) as closing, count(*) from campaigns group by closing order by closing limit 8;
-- dates: strftime
select strftime(sold_at, '%Y-%m') as month, count(*) from sales group by month order by month;
-- dates: strftime of a weekday
select strftime(launched, '%d.%m.%Y') as d, sku from products order by sku limit 10;
-- dates: an interval without quotes
select campaign, starts + interval 3 month as later from campaigns order by campaign limit 10;
-- dates: an interval times a number
select count(*) from sales where sold_at > date '2022-01-01' + 30 * interval '1 day';
-- dates: sales within three months of the launch
select count(*), sum(paid) from sales join products p on product = p.sku where sold_at < p.launched + interval '3' month;
-- dates: make_date
select count(*) from sales where sold_at >= make_date(2022, 2, 28) and sold_at < make_date(2022, 3, 1);
-- dates: current_date
select count(*) from products where launched <= current_date;
-- dates: day of week names by case
select case extract(dow from sold_at) when 0 then 'Sun' when 6 then 'Sat' else 'work' end as kind, sum(paid) from sales group by kind order by kind;
-- dates: cast to date
select cast(seen as date) as day, count(*) from visits group by day order by day limit 10;
-- dates: :: to date
select seen::date as day, count(distinct session) from visits group by day order by 2 desc, 1 limit 10;
-- dates: leap day
select count(*) from visits where extract(month from seen) = 2 and extract(day from seen) = 29;
-- dates: born before 1970
select extract(year from born) / 10 * 10 as decade, count(*) from customers where born < date '1970-01-01' group by 1 order by 1;

-- strings: concatenation
select customer || ' <' || coalesce(email, '-') || '>' from customers order by customer_id limit 10;
-- strings: ILIKE
select count(*) from visits where url ilike '%/PRODUCT/%';
-- strings: ILIKE beyond ASCII
select customer, count(*) from customers where customer ilike '%škoda%' or customer ilike 'İ%' group by customer order by customer;
-- strings: LIKE minds case
select count(*) from visits where url like '%/Product/%';
-- strings: LIKE with escape
select brand, count(*) from products where brand like '%\_%' escape '\' or brand like '100^%%' escape '^' group by brand order by brand;
-- strings: replace
select replace(category, ' > ', '/') as path, count(*) from products group by path order by path;
-- strings: left and right
select left(sku, 1) as l, right(sku, 1) as r, count(*) from products group by l, r order by l, r limit 20;
-- strings: position
select position('?' in url) > 0 as has_query, count(*) from visits group by 1 order by 1;
-- strings: starts_with
select starts_with(url, 'https://') as secure, count(*) from visits group by secure order by secure;
-- strings: split_part
select split_part(category, ' > ', 1) as top, sum(paid) from sales join products on product = sku group by top order by top;
-- strings: host of a url
select split_part(url, '/', 3) as host, count(*) from visits group by host order by host;
-- strings: concat
select concat(sku, ': ', brand) from products order by sku limit 10;
-- strings: lpad and rpad
select lpad(cast(store_id as varchar), 5, '0') as s, rpad(city, 6, '.') from stores order by store_id limit 10;
-- strings: reverse
select reverse(country), reverse(code) from countries order by code;
-- strings: upper and lower beyond ASCII
select upper(country), lower(country) from countries order by code;
-- strings: group by lower
select lower(city) as city, count(*) from sales join stores on store = store_id group by lower(city) order by 1;
-- strings: length in characters
select length(customer) as n, count(*) from customers group by n order by n;
-- strings: substring
select substring(email from position('@' in email) + 1) as domain, count(*) from customers where email like '%@%' group by 1 order by 1;
-- strings: trim, ltrim, rtrim
select trim(city), ltrim(city, 'B'), rtrim(city, 'n') from stores order by store_id limit 8;
-- strings: regular expression as a filter
select count(*) from visits where regexp_matches(url, '/checkout/step-[0-9]+$');
-- strings: regexp_replace
select regexp_replace(email, '^[^@]+@', '') as domain, count(*) from customers group by 1 order by 1;
-- strings: regexp_extract
select regexp_extract(url, 'q=([a-zA-Z+]*)', 1) as q, count(*) from visits group by q order by q;
-- strings: contains
select contains(agent, 'iPhone') as phone, count(*) from visits group by phone order by phone;
-- strings: case in a condition
select case when agent like '%bot%' then 'bot' when agent ilike 'curl%' then 'tool' else 'browser' end as kind, count(*)
from visits group by kind order by kind;

-- casts: to varchar
select cast(quantity as varchar) as q, count(*) from sales group by q order by q;
-- casts: to decimal
select cast(avg(paid) as decimal(12, 2)) as mean, product from sales group by product order by product limit 10;
-- casts: to double
select sum(paid)::double / count(*) from sales;
-- casts: :: to integer
select (round(price)::int) as p, count(*) from sales group by p order by 2 desc, 1 limit 10;
-- casts: ratio as double
select status, cast(sum(millis) as double) / count(*) from visits group by status order by status;
-- casts: text to integer
select max(cast(right(sku, 4) as integer)) from products;
-- casts: try_cast
select try_cast(split_part(sku, '-', 2) as integer) % 2 as odd, count(*) from products group by odd order by odd;

-- aggregates: stddev and variance
select store, stddev(paid), variance(paid), stddev_pop(quantity) from sales group by store order by store limit 10;
-- aggregates: median
select status, median(millis) from visits group by status order by status;
-- aggregates: quantiles
select quantile_cont(millis, 0.9), quantile_cont(millis, 0.5), quantile_disc(millis, 0.99) from visits;
-- aggregates: quantile
select origin, quantile(millis, 0.25) from visits group by origin order by origin;
-- aggregates: percentile_cont
select percentile_cont(0.95) within group (order by millis) from visits;
-- aggregates: sum and avg of distinct
select sum(distinct quantity), avg(distinct quantity), count(distinct product) from sales;
-- aggregates: distinct by group
select store, sum(distinct quantity), count(distinct buyer) from sales group by store order by store limit 10;
-- aggregates: bool_and and bool_or
select store, bool_and(returned), bool_or(returned) from sales group by store order by store limit 10;
-- aggregates: any_value
select sku, any_value(title), sum(paid) from sales join products on product = sku group by sku order by sku limit 5;
-- aggregates: string_agg
select located, string_agg(city, ', ' order by store_id) from stores group by located order by located;
-- aggregates: filter
select store, count(*) filter (where returned) as returned, sum(paid) filter (where quantity > 1) as several from sales group by store order by store limit 10;
-- aggregates: filter without a group
select count(*) filter (where status = 404), avg(millis) filter (where status = 200) from visits;
-- aggregates: having by alias
select product, sum(paid) as revenue from sales group by product having revenue > 50000 order by revenue desc, product limit 10;
-- aggregates: group by alias of an expression
select paid > 1000 as big, returned as back, count(*) from sales group by big, back order by big, back;
-- aggregates: rollup
select st.city, p.category, sum(paid) from sales join stores st on store = st.store_id join products p on product = p.sku
group by rollup (st.city, p.category) order by 1, 2, 3;
-- aggregates: grouping sets
select status, agent, count(*) from visits group by grouping sets ((status), (agent), ()) order by 1, 2, 3;
-- aggregates: cube
select returned, quantity > 0, count(*) from sales group by cube (returned, quantity > 0) order by 1, 2, 3;
-- aggregates: correlation
select corr(quantity, price) from sales;
-- aggregates: arg_max
select store, arg_max(sale_id, paid * 100000000 + sale_id) from sales group by store order by store limit 6;
-- aggregates: count_if
select count_if(status >= 400), count_if(bytes is null) from visits;
-- aggregates: group by all
select city, located, count(*) from stores group by all order by 1, 2;
-- aggregates: approximate looks exact
select count(distinct session), count(distinct (session)) from visits;

-- predicates: is true
select count(*) from sales where returned is true;
-- predicates: is not true
select count(*) from sales where returned is not true;
-- predicates: is false
select count(*) from customers where newsletter is false;
-- predicates: is distinct from
select count(*) from sales where coupon is distinct from 'WELCOME10';
-- predicates: is not distinct from
select count(*) from visits where agent is not distinct from null;
-- predicates: not in with a list
select count(*) from sales where coupon not in ('WELCOME10', '');
-- predicates: rows as lists
select count(*) from visits where not (status between 200 and 399) and (referrer is null or referrer <> 'direct');
-- predicates: rows in a list
select store, quantity, count(*), sum(paid) from sales
where (store, quantity) in ((-5, 1), (3, 2), (0, 1)) group by store, quantity order by store, quantity;
-- predicates: any of a subquery
select count(*) from sales where store = any (select store_id from stores where city = 'Paris');
-- predicates: boolean column alone
select count(*) from sales where returned and not (quantity < 0);

-- without from: a calculation
select 1 + 1 as two, 'x' || 'y' as text, round(2.567, 2);
-- without from: dates
select date '2024-02-29' + interval 1 year, last_day(date '2023-02-01'), date_diff('day', date '2024-01-01', date '2024-12-31');
-- without from: values
select * from (values (1, 'one'), (2, 'two')) as t(n, name) order by n;

-- ctes: one
with monthly as (select date_trunc('month', sold_at) as month, sum(paid) as revenue from sales group by 1)
select month, revenue from monthly where revenue > 100000 order by month;
-- ctes: average of sums
with baskets as (select buyer, sum(paid) as total from sales where buyer is not null group by buyer)
select count(*), avg(total), max(total), min(total) from baskets;
-- ctes: two of them
with big as (select product, sum(paid) as revenue from sales group by product), top as (select product from big order by revenue desc, product limit 5)
select count(*) from sales where product in (select product from top);
-- ctes: two facts by day
with s as (select cast(sold_at as date) as day, sum(paid) as revenue from sales group by 1),
v as (select cast(seen as date) as day, count(*) as visits from visits group by 1)
select v.day, visits, revenue from v join s on v.day = s.day order by revenue desc, v.day limit 10;
-- ctes: a chain
with a as (select store, product, sum(quantity) as q from sales group by store, product), b as (select store, max(q) as best from a group by store)
select avg(best), count(*) from b;
-- ctes: histogram of a histogram
with per as (select session, count(*) as pages from visits group by session) select pages, count(*) from per group by pages order by pages;

-- subqueries: in from
select avg(n) from (select buyer, count(*) as n from sales group by buyer) as t;
-- subqueries: scalar
select count(*) from sales where paid > (select avg(paid) from sales);
-- subqueries: scalar in select
select store, sum(paid) / (select sum(paid) from sales) as share from sales group by store order by share desc, store limit 10;
-- subqueries: in
select count(*), sum(paid) from sales where product in (select sku from products where category like 'Toys%');
-- subqueries: not in
select customer_id, customer from customers where customer_id not in (select buyer from sales where buyer is not null) order by customer_id limit 10;
-- subqueries: exists
select sku from products p where exists (select 1 from sales s where s.product = p.sku and s.quantity > 7) order by sku limit 10;
-- subqueries: not exists, not correlated
select count(*) from stores where not exists (select 1 from sales where paid > 100000000);
-- subqueries: joined with a dimension
select c.country, t.revenue from (select located, sum(paid) as revenue from sales join stores on store = store_id group by located) t
join countries c on t.located = c.code order by t.revenue desc, 1;
-- subqueries: greatest day
select cast(seen as date) as day, count(*) from visits where cast(seen as date) = (select max(cast(seen as date)) from visits) group by 1;

-- sets: union all
select 'sales' as what, count(*) as n from sales union all select 'visits', count(*) from visits order by what;
-- sets: union
select city from stores where located = 'DE' union select country from countries order by 1;
-- sets: except
select customer_id from customers except select buyer from sales order by 1 limit 10;
-- sets: intersect
select buyer from sales intersect select visitor from visits order by 1 nulls first limit 10;

-- windows: rank in a category
select category, sku, revenue, rank() over (partition by category order by revenue desc, sku) as place
from (select p.category, p.sku, sum(paid) as revenue from sales join products p on product = p.sku group by p.category, p.sku) t
order by category, place limit 20;
-- windows: top three of each
select * from (select store, product, sum(paid) as r, row_number() over (partition by store order by sum(paid) desc, product) as n
from sales group by store, product) t where n <= 3 order by store, n limit 30;
-- windows: running sum
with m as (select date_trunc('month', sold_at) as month, sum(paid) as r from sales group by 1)
select month, r, sum(r) over (order by month) as so_far from m order by month;
-- windows: growth by lag
with m as (select date_trunc('month', sold_at) as month, sum(paid) as r from sales group by 1)
select month, r, r - lag(r) over (order by month) as growth, lead(r, 1, 0) over (order by month) as next from m order by month;
-- windows: moving average
with d as (select cast(seen as date) as day, count(*) as n from visits group by 1)
select day, avg(n) over (order by day rows between 6 preceding and current row) as week from d order by day limit 20;
-- windows: share of the whole
select city, sum(paid) as r, sum(paid) * 100.0 / sum(sum(paid)) over () as percent from sales join stores on store = store_id group by city order by r desc, city;
-- windows: dense_rank, ntile, percent_rank
select store_id, dense_rank() over (order by city), ntile(4) over (order by store_id), percent_rank() over (order by store_id) from stores order by store_id;
-- windows: first and last value
select distinct city, first_value(store_id) over (partition by city order by opened, store_id) as oldest from stores order by 1, 2;
-- windows: the dearest sale of each store
select distinct on (store) store, sale_id, paid from sales order by store, paid desc, sale_id;
-- windows: qualify
select city, store_id from stores qualify row_number() over (partition by city order by opened desc, store_id) = 1 order by city;

-- joins: using
select count(*), sum(revenue) from (select product as sku, sum(paid) as revenue from sales group by product) t join products using (sku);
-- joins: full of two facts
with s as (select buyer as id, sum(paid) as paid from sales group by buyer), v as (select visitor as id, count(*) as n from visits group by visitor)
select count(*), count(s.id), count(v.id), sum(n) from s full join v on s.id = v.id;
-- joins: a subquery and two dimensions
select p.brand, co.continent, sum(t.q) from (select product, store, sum(quantity) as q from sales group by product, store) t
join products p on t.product = p.sku join stores st on t.store = st.store_id left join countries co on st.located = co.code
group by p.brand, co.continent order by 1, 2;

-- joins: customers with and without sales
select home, count(*) as rows, count(sale_id) as sales, sum(paid) as paid
from customers left join sales on buyer = customer_id and sold_at >= '2023-01-01' group by home order by home;
-- joins: products that nobody bought
select count(*) from products p left join sales s on s.product = p.sku where s.sale_id is null;
-- joins: sales during campaigns
select c.channel, p.category, count(*), sum(s.paid)
from sales s join products p on s.product = p.sku join campaigns c on s.sold_at between c.starts and c.ends
group by c.channel, p.category order by 1, 2;
-- joins: bought together
select a.product, b.product, count(*) as times
from sales a join sales b on a.buyer = b.buyer and a.product < b.product
group by a.product, b.product order by times desc, 1, 2 limit 10;
-- joins: each with each
select count(*), sum(area) from stores cross join campaigns;
-- joins: neighbours
select a.store_id, a.city, b.store_id from stores a join stores b on a.city = b.city and a.opened < b.opened
order by a.store_id, b.store_id;

-- floats: sum and average
select category, sum(weight), avg(weight), count(weight) from products group by category order by category;
-- floats: sum of millions
select sum(score), avg(score), min(score), max(score) from visits;
-- floats: NaN and infinity
select count(*) from sales where isnan(margin) or isinf(margin);
-- floats: without NaN
select store, sum(margin), min(margin), max(margin) from sales where margin < 1e6 and margin > -1e6 group by store order by store limit 10;
-- floats: a range
select count(*) from visits where score > 49.5 and score <= 50.5;
-- floats: arithmetic
select sum(margin * quantity), avg(margin / 2) from sales where margin between -1000 and 1000;
-- floats: group by
select weight, count(*) from products group by weight order by weight limit 10;
-- floats: order by
select sku, weight from products where weight is not null order by weight desc, sku limit 10;
-- floats: round
select round(score) as s, count(*) from visits group by s order by s limit 20;
-- floats: equality
select count(*) from products where weight = 0.25 or weight = 0.1;
-- floats: extremes
select max(margin), min(margin), count(margin) from sales;
-- floats: NaN is the greatest
select count(*) from sales where margin > 1e300;
-- floats: NaN comes last
select sale_id, margin from sales where margin is not null order by margin desc, sale_id limit 30;
